/**
 * Machines that are replaced while the cluster is in use: a pool's size or image changes, a few at a time, the new node Ready
 * before the old one is drained; also when a person goes back half-way.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { labelNames } from "../../providers/local/labels";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { helloImage, machineImageReference } from "../../setup/machine-image";
import { ClusterProject, eventually } from "./cluster-project";

const project = new ClusterProject();
const workers = { name: "workers", count: 2, surge: 1 };
const others = { name: "others", count: 1 };
const ownImage = `localhost/kubicorn-replace-test:${process.pid}`;

const configure = (...pools: object[]) => project.configure({ cloud: "local", pools });

beforeAll(async () => {
  configure(workers, others);
  await project.run("up", "--yes", "--skip-preview");
  project.kubectlProgram = (await kubectlProgram("1.37.2")) ?? "kubectl";
  await project.fetchKubeconfig();
  const manifest = readFileSync(join(__dirname, "web.yaml"), "utf8").replace("HELLO_IMAGE", helloImage);
  await project.kubectl(["apply", "-f", "-"], manifest);
  await project.kubectl(["create", "pdb", "web", "--selector=app=web", "--min-available=1"]);
  await project.kubectl(["rollout", "status", "deployment/web", "--timeout=120s"]);
});

afterAll(async () => {
  await project.start("down", "--yes", "--skip-preview");
  await execa("podman", ["untag", ownImage, ownImage], { reject: false });
  project.remove();
});

interface Node {
  metadata: { name: string };
  spec: { unschedulable?: boolean; taints?: object[] };
  status: { conditions: { type: string; status: string }[] };
}

async function nodes(): Promise<{ name: string; inService: boolean }[]> {
  const { items } = await project.kubectlJson<{ items: Node[] }>("get", "nodes");
  return items
    .filter(({ metadata }) => !metadata.name.includes("control-plane"))
    .map(({ metadata, spec, status }) => {
      const ready = status.conditions.some((one) => one.type === "Ready" && one.status === "True");
      return { name: metadata.name, inService: ready && !spec.unschedulable };
    });
}

/** The machines of this very cluster, by name, with their containers' ids. */
async function machines(): Promise<Record<string, string>> {
  const port = /127\.0\.0\.1:(\d+)/.exec(readFileSync(project.kubeconfigFile, "utf8"))?.[1];
  const listed = async (filter: string, format: string) =>
    (await execa("podman", ["ps", "--all", "--no-trunc", "--filter", filter, "--format", format])).stdout.split("\n");
  const label = (name: string) => `{{index .Labels "${name}"}}`;
  const [identity] = await listed(`label=${labelNames.apiPort}=${port}`, label(labelNames.identity));
  const own = await listed(`label=${labelNames.identity}=${identity}`, `${label(labelNames.machine)} {{.ID}}`);
  return Object.fromEntries(own.filter(Boolean).map((line) => line.split(" ") as [string, string]));
}

interface Watched {
  exitCode: number | undefined;
  output: string;
  /** The fewest workers that were Ready and took pods at any moment. */
  fewestInService: number;
  /** The most that were there and did not. */
  mostInBetween: number;
}

/** Runs `up` and looks at the workers all the while. */
async function watchedUp(): Promise<Watched> {
  const run = project.start("up", "--yes", "--skip-preview");
  let ended = false;
  let [fewestInService, mostInBetween] = [Number.POSITIVE_INFINITY, 0];
  const watch = async () => {
    while (!ended) {
      const found = await nodes();
      const inService = found.filter((node) => node.inService).length;
      fewestInService = Math.min(fewestInService, inService);
      mostInBetween = Math.max(mostInBetween, found.length - inService);
      await new Promise((next) => setTimeout(next, 200));
    }
  };
  const watching = watch();
  const { exitCode, all } = await run;
  ended = true;
  await watching;
  return { exitCode, output: all, fewestInService, mostInBetween };
}

const isPlain = /^local-workers-\d$/;
const isSized = /^local-workers-\d-[0-9a-f]{6}$/;
const namesOf = (found: Record<string, string>, pattern: RegExp) =>
  Object.keys(found).filter((name) => pattern.test(name));

test("another size is previewed as that pool's machines, each with the reason and its new name", async () => {
  configure({ ...workers, memoryGiB: 2 }, others);
  const preview = await project.run("preview");
  expect(preview).toMatch(
    /local-workers-1 is replaced by local-workers-1-[0-9a-f]{6} \(memoryGiB: no limit -> 2\)\. The new machine is a Ready node before the old one is drained and removed\./,
  );
  expect(preview).toMatch(/local-workers-2 is replaced by local-workers-2-[0-9a-f]{6}/);
  expect(preview).toMatch(/~ 2 to update\n +\+-4 to replace/);
  expect(preview).not.toMatch(/(others|control-plane).* (update|replace|delete)/);
});

test("they are replaced one after the other, with never fewer in service than there were", async () => {
  const before = await machines();
  const { exitCode, output, fewestInService, mostInBetween } = await watchedUp();
  expect(exitCode, output).toBe(0);
  expect(fewestInService).toBe(3);
  expect(mostInBetween).toBe(1);
  const after = await machines();
  expect(namesOf(after, isSized)).toHaveLength(2);
  expect(Object.keys(after)).toHaveLength(4);
  for (const name of ["local-control-plane-1", "local-others-1"]) {
    expect(after[name]).toBe(before[name]);
  }
  expect((await nodes()).map(({ name }) => name).sort()).toEqual(
    Object.keys(after)
      .filter((name) => !name.includes("control-plane"))
      .sort(),
  );
  await project.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
  const again = await project.run("up", "--yes");
  expect(again).not.toMatch(/to (create|update|replace|delete)|(created|updated|replaced|deleted)|is replaced by/);
});

const budget = (least: number) => [
  "patch",
  "pdb",
  "web",
  "--type=merge",
  "-p",
  JSON.stringify({ spec: { minAvailable: least } }),
];

test("a budget that holds a drain stops the rollout at its limit, with everything in service; without it the next run goes on", async () => {
  await project.kubectl(["scale", "deployment/web", "--replicas=3"]);
  await project.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
  await project.kubectl(budget(3));
  const pool = { ...workers, memoryGiB: 3 };
  configure({ ...pool, drainSeconds: 5 }, others);
  const held = await watchedUp();
  expect(held.exitCode).not.toBe(0);
  expect(held.output).toMatch(
    /Node local-workers-\d-\w+ could not be drained and is in service again: .*pod default\/web-\S+.*budget web/,
  );
  expect(held.output).toMatch(/workers-\d was not begun, since another step of this run failed/);
  expect(held.fewestInService).toBe(3);
  expect((await nodes()).filter(({ inService }) => inService)).toHaveLength(4);
  await project.kubectl(budget(1));
  configure(pool, others);
  const { exitCode, output } = await watchedUp();
  expect(exitCode, output).toBe(0);
  expect(Object.keys(await machines())).toHaveLength(4);
  expect((await nodes()).filter(({ inService }) => inService)).toHaveLength(3);
});

test.each([
  ["its machine was being made", async () => Object.keys(await machines()).some((name) => isPlain.test(name))],
  ["its node was joining", async () => (await nodes()).some(({ name }) => isPlain.test(name))],
])(
  "who goes back after a run was killed when %s keeps the machines that were there, and nothing is left of others",
  async (_title, isSoFar) => {
    const before = await machines();
    configure(workers, others);
    await killOnce(isSoFar);
    configure({ ...workers, memoryGiB: 3 }, others);
    const { exitCode, output, fewestInService } = await watchedUp();
    expect(exitCode, output).toBe(0);
    expect(fewestInService).toBeGreaterThanOrEqual(3);
    expect(await machines()).toEqual(before);
    const left = await nodes();
    expect(left.filter(({ inService }) => inService)).toHaveLength(3);
    expect(left).toHaveLength(3);
    expect(await project.run("preview")).not.toMatch(/to (create|update|replace|delete)/);
  },
);

test("an image that the engine does not have is refused in preview; one that it has touches only its pool", async () => {
  configure({ ...workers, memoryGiB: 3 }, { ...others, image: ownImage });
  const { exitCode, all } = await project.start("preview");
  expect(exitCode).not.toBe(0);
  expect(all).toMatch(/image of pool others: "localhost\/kubicorn-replace-test.*podman has no image of that name/);
  const before = await machines();
  await execa("podman", ["tag", await machineImageReference("1.37.2"), ownImage]);
  await project.run("up", "--yes", "--skip-preview");
  const after = await machines();
  expect(namesOf(after, /^local-others-1-[0-9a-f]{6}$/)).toHaveLength(1);
  expect(after["local-others-1"]).toBeUndefined();
  for (const name of [...namesOf(before, isSized), "local-control-plane-1"]) {
    expect(after[name]).toBe(before[name]);
  }
});

test("the control plane takes another size while it runs, and the cluster's name and ranges are refused to change", async () => {
  const before = await machines();
  const settings = {
    cloud: "local",
    pools: [
      { ...workers, memoryGiB: 3 },
      { ...others, image: ownImage },
    ],
  };
  project.configure({ ...settings, name: "other", network: { pods: "10.200.0.0/16" } });
  const refused = await project.start("up", "--yes", "--skip-preview");
  expect(refused.exitCode).not.toBe(0);
  expect(refused.all).toMatch(/name: "other" is not allowed; it stays "local" for as long as the cluster lives/);
  expect(refused.all).toMatch(/network\.pods: "10\.200\.0\.0\/16" is not allowed; it stays "10\.244\.0\.0\/16"/);
  project.configure({ ...settings, controlPlane: { memoryGiB: 6 } });
  expect(await project.run("up", "--yes", "--skip-preview")).toMatch(
    /local-control-plane-1 gets another size while it runs: memoryGiB: no limit -> 6\./,
  );
  expect(await machines()).toEqual(before);
  const limit = "cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes";
  const shown = await execa("podman", ["exec", before["local-control-plane-1"] ?? "", "sh", "-c", limit]);
  expect(Number(shown.stdout)).toBe(6 * 1024 ** 3);
});

/** Starts `up` and kills it, with Pulumi and whatever they started, as soon as it is that far. */
async function killOnce(isSoFar: () => Promise<boolean>): Promise<void> {
  const run = project.start("up", "--yes", "--skip-preview");
  await eventually("the run is half-way", 120, isSoFar, (far) => far);
  for (const id of [...descendants(run.pid ?? 0), run.pid ?? 0]) {
    process.kill(id, "SIGKILL");
  }
  await run;
}

function descendants(id: number): number[] {
  const children = readFileSync(`/proc/${id}/task/${id}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}
