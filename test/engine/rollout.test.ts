/**
 * A rollout under the real engine: slots whose host keys wait for their turns, with as few of Pulumi's slots as can be,
 * with a failure in the middle, and with Ctrl-C. The machines are things of test/doubles/memory.
 */
import { readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Project } from "./project";

let project: Project;

beforeEach(async () => {
  project = await new Project("memory").init();
});

afterEach(() => project.remove());

const slots = ["1", "2", "3", "4"];

/** A pool of four machines, one of which is replaced at a time. */
function pool(
  generation: string,
  more: (slot: string) => Record<string, unknown> = () => ({}),
): Record<number, unknown> {
  const parts = slots.flatMap((slot, position) => {
    const [key, queued] = [2 * position, position > 0 ? [2 * position - 2] : []];
    const turn = { group: "pool", slot, atATime: 1 };
    const machine = `m${slot}-${generation}`;
    return [
      [key, { name: `key-${slot}`, kind: "guest:HostKey", library: null, inputs: { machine, turn }, after: queued }],
      [
        key + 1,
        {
          name: `machine-${slot}`,
          inputs: {
            name: `m${slot}`,
            alias: machine,
            value: { $ref: [key, "publicKey"] },
            endsTurn: { group: "pool", slot },
            ...more(slot),
          },
        },
      ],
    ];
  });
  return Object.fromEntries(parts);
}

/** What was applied since, in order. */
const logSince = (before: number) =>
  project
    .log()
    .slice(before)
    .filter((line) => line.startsWith("appl"));

test("goes one at a time, also where Pulumi does no more than two things at once", async () => {
  project.model(pool("a"));
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  const before = project.log().length;
  project.model(pool("b", () => ({ slow: 300 })));
  const { exitCode, output } = await project.up({ PULUMI_PARALLEL: "2" });
  expect(exitCode, output).toBe(0);
  const log = logSince(before);
  expect(log).toHaveLength(8);
  for (const position of [0, 2, 4, 6]) {
    expect(log[position + 1]).toBe(`applied ${log[position]?.split(" ")[1]}`);
  }
  expect((await project.up()).output).toMatch(/10 unchanged/);
});

test("begins no further slot once one has failed, says so, and goes on in the next run", async () => {
  project.model(pool("a"));
  await project.up();
  const before = project.log().length;
  project.model(pool("b", () => ({ slow: 500, fail: "after" })));
  const { exitCode, output } = await project.up();
  expect(exitCode).toBe(1);
  expect(output).toMatch(
    /[1-4] was not begun, since another step of this run failed\. The next run goes on from here\./,
  );
  expect(logSince(before)).toHaveLength(1);
  project.model(pool("b"));
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  expect(project.state().filter(({ outputs }) => String(outputs?.alias).endsWith("-b"))).toHaveLength(4);
  expect(readdirSync(project.world).filter((file) => /-[ab]\.json$/.test(file))).toEqual(
    slots.map((slot) => `m${slot}-b.json`),
  );
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
});

test("ends soon after Ctrl-C under plain Pulumi, and goes on in the next run", async () => {
  project.model(pool("a"));
  await project.up();
  project.model(pool("b", () => ({ slow: 3000 })));
  const run = project.start(["up", "--yes", "--skip-preview", "-s", "dev"]);
  await new Promise<void>((resolve) => {
    run.all.on("data", (chunk: Buffer) => {
      if (/waiting for the turn of/.test(chunk.toString())) {
        resolve();
      }
    });
  });
  const interrupted = performance.now();
  run.kill("SIGINT");
  const { exitCode } = await run;
  expect(exitCode).not.toBe(0);
  expect(performance.now() - interrupted).toBeLessThan(20_000);
  expect(project.pendingOperations()).toEqual([]);
  project.model(pool("b"));
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  expect((await project.up()).output).toMatch(/10 unchanged/);
});
