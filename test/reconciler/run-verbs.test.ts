/** The verbs over the AtomicReconciler, run as a person runs them: apply, rollback, delete and explain on the real CLI. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CommandProject } from "../engine/command-project";

const repository = resolve(__dirname, "../..");

let project: CommandProject;
let world: string;

beforeEach(() => {
  project = new CommandProject();
  world = join(project.root, "world");
  mkdirSync(world);
  cpSync(join(repository, "test/doubles/memory"), project.folder, { recursive: true });
  for (const name of ["zod", "@grpc"]) {
    symlinkSync(join(repository, "node_modules", name), project.path(`node_modules/${name}`));
  }
  symlinkSync(repository, project.path("node_modules/pulumi-kubicorn"));
  project.write("Pulumi.local.yaml", "config:\n  tiny:cloud: local\n");
});

afterEach(() => project.remove());

const things = (parts: readonly Record<string, unknown>[]) =>
  project.write(
    "model.json",
    JSON.stringify({
      parts: parts.map(({ name, ...inputs }) => ({ name, inputs: { name, ...inputs } })),
    }),
  );
const start = (...args: string[]) => project.start(args, { MEMORY_WORLD: world });
const run = (...args: string[]) => project.run(args, { MEMORY_WORLD: world });
const present = () =>
  readdirSync(world)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.replace(".json", ""))
    .sort();

const old = [{ name: "a", value: 1 }, { name: "b" }];
const bad = [{ name: "a", value: 2 }, { name: "c" }, { name: "d", fail: "after" }];

test("apply makes what the program says, says so once more when nothing is to do, and undoes what fails", async () => {
  things(old);
  const first = await run("apply", "--yes");
  expect(first.exitCode, first.stderr).toBe(0);
  expect(first.stdout).toBe("The stack local is as its configuration says: 2 made.");
  expect(first.stderr).toMatch(/The plan:\n( {2}\+ {2}create {2}t-[ab] {2}memory:Thing\n?){2}/);
  expect(present()).toEqual(["a", "b"]);

  const second = await run("apply", "--yes", "-o", "json");
  expect(JSON.parse(second.stdout)).toMatchObject({ stack: "local", outcome: "nothing to do", steps: [], error: null });

  things(bad);
  const failed = await run("apply", "--yes", "--output", "json");
  expect(failed.exitCode).toBe(3);
  const report = JSON.parse(failed.stdout);
  expect(report).toMatchObject({ outcome: "rolled back", notUndone: [] });
  expect(report.steps).toContainEqual({ step: "update", name: "t-a", kind: "memory:Thing", differences: ["value"] });
  expect(report.error).toMatch(/d was made and does not work/);
  expect(failed.stderr).toMatch(/no rollback brings it back: t-b\./);
  expect(failed.stderr).toMatch(/The change was undone: everything stands as before\.$/);
  expect(present()).toEqual(["a", "b"]);

  const kept = await run("apply", "--yes", "--policy", "keep");
  expect(kept.exitCode).toBe(1);
  expect(kept.stderr).toMatch(/What was made stays, for the next run to go on from\.$/);
  expect(present()).toContain("d");
  expect(project.changes()).not.toMatch(/kubicorn/);
}, 200_000);

test("what is interrupted is undone; what is killed is undone by rollback, or gone on with by apply", async () => {
  things(old);
  await run("apply", "--yes");
  things([{ name: "a", value: 1 }, { name: "b" }, { name: "c" }, { name: "d", slow: 60_000 }]);
  const interrupted = start("apply", "--yes");
  await until(() => present().includes("d"));
  interrupted.kill("SIGTERM");
  const { exitCode, stderr } = await interrupted;
  expect(exitCode, stderr).toBe(143);
  expect(stderr).toMatch(/The change was undone: everything stands as before\.$/);
  expect(present()).toEqual(["a", "b"]);

  await kill("d");
  expect(present()).toEqual(["a", "b", "c", "d"]);
  const back = await run("rollback", "--yes", "-o", "json");
  expect(back.exitCode, back.stderr).toBe(0);
  expect(JSON.parse(back.stdout)).toMatchObject({ outcome: "rolled back", notUndone: [] });
  expect(present()).toEqual(["a", "b"]);
  expect((await run("rollback", "--yes")).stdout).toMatch(/came to its end: there is nothing to undo\.$/);

  await kill("d");
  things([{ name: "a", value: 1 }, { name: "b" }, { name: "c" }, { name: "d" }]);
  const forward = await run("apply", "--yes");
  expect(forward.exitCode, forward.stderr).toBe(0);
  expect(present()).toEqual(["a", "b", "c", "d"]);
}, 300_000);

test("two changes at once are refused, and nothing of the first is touched", async () => {
  things([{ name: "a", slow: 8000 }]);
  const first = start("apply", "--yes");
  await until(() => present().includes("a"));
  const second = await run("apply", "--yes");
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toMatch(/^The stack local is in use: .* Wait until that run has ended\./m);
  expect((await first).exitCode).toBe(0);
  expect(present()).toEqual(["a"]);
}, 100_000);

test("delete removes everything but what is protected, tells that, and forgets the stack where asked to", async () => {
  expect((await run("delete", "--yes")).stdout).toBe("There is no stack local, so there is nothing to remove.");
  things([{ name: "a" }, { name: "b" }]);
  const program = project.read("index.js");
  project.write("index.js", `${protecting("t-a")}${program}`);
  await run("apply", "--yes");
  const left = await run("delete", "--yes", "--output", "json");
  expect(left.exitCode).toBe(1);
  expect(JSON.parse(left.stdout)).toMatchObject({ outcome: "leftovers", removed: 1, leftovers: [{ name: "t-a" }] });
  expect(present()).toEqual(["a"]);

  project.write("index.js", program);
  things([{ name: "a" }]);
  await run("apply", "--yes");
  const all = await run("delete", "--yes", "--purge");
  expect(all.exitCode, all.stderr).toBe(0);
  expect(all.stdout).toBe("Removed everything of the stack local (things: 1), and the stack local is forgotten.");
  expect(present()).toEqual([]);
  expect(existsSync(project.path("stacks/Pulumi.local.yaml"))).toBe(false);
  expect(project.read("Pulumi.local.yaml"), "the committed profile stays").toContain("tiny:cloud");
}, 200_000);

test("explain shows what is there and what apply would do, and changes nothing", async () => {
  const none = await run("explain");
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toMatch(/There is no stack local yet: "kubicorn apply --stack local" makes it\.$/);
  things(old);
  await run("apply", "--yes");
  rmSync(join(world, "b.json"));
  things([{ name: "a", value: 2 }, { name: "b" }, { name: "c" }]);
  const { exitCode, stdout } = await run("explain", "--exit-code", "-o", "json");
  expect(exitCode).toBe(5);
  const told = JSON.parse(stdout).resources.map(({ name, actual, step, differences }: Record<string, unknown>) => [
    name,
    actual && (actual as { exists: boolean }).exists,
    step,
    differences,
  ]);
  expect(told).toContainEqual(["t-a", true, "update", ["value"]]);
  expect(told).toContainEqual(["t-b", false, "create", []]);
  expect(told).toContainEqual(["t-c", null, "create", []]);
  expect(present()).toEqual(["a"]);
  expect((await run("explain")).stdout).toMatch(/^t-b +none +missing \(recorded: b-\d+\) +make it$/m);
}, 200_000);

test("without a terminal and without --yes, nothing is changed; nor where the configuration is not allowed", async () => {
  for (const verb of ["apply", "rollback", "delete"]) {
    const { exitCode, stderr } = await run(verb);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`add --yes, as in "kubicorn ${verb} --yes"\\. Nothing was changed\\.$`));
  }
  expect(project.calls()).toEqual([]);
  project.write("Pulumi.local.yaml", "config:\n  tiny:cloud: local\n  tiny:kubernetesVersoin: 1.2.3\n");
  things(old);
  const { exitCode, stderr } = await run("apply", "--yes");
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/kubernetesVersoin.*did you mean kubernetesVersion/);
  expect(stderr).toMatch(/the stack local is none again/);
  expect(present()).toEqual([]);
}, 100_000);

/** A transformation by which a program protects one thing. */
function protecting(thing: string): string {
  return `require("@pulumi/pulumi").runtime.registerStackTransformation(({ name, props, opts }) =>
    ({ props, opts: { ...opts, protect: name === ${JSON.stringify(thing)} } }));\n`;
}

/** Kills the whole of an apply once that thing is there. */
async function kill(name: string): Promise<void> {
  const running = start("apply", "--yes");
  await until(() => present().includes(name));
  project.killAll();
  await running;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
