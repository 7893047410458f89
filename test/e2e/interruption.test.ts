/**
 * A run killed in the middle, on a real cluster of the smallest kind: one machine, no workers.
 */
import { readFileSync } from "node:fs";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { labelNames } from "../../providers/local/labels";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { ClusterProject, eventually } from "./cluster-project";

const project = new ClusterProject();

beforeAll(() => {
  project.configure({ cloud: "local", controlPlane: { count: 1, schedulable: true }, pools: [] });
});

afterAll(async () => {
  await project.start("down", "--yes", "--skip-preview");
  project.remove();
});

/** Kills the command, Pulumi and whatever they started, all at once and with no chance to say anything. */
async function killAt(line: RegExp): Promise<string> {
  const run = project.start("up", "--yes", "--skip-preview");
  let printed = "";
  run.all.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await eventually(
    `it prints ${line}`,
    120,
    async () => printed,
    (text) => line.test(text),
  );
  for (const id of [...descendants(run.pid ?? 0), run.pid ?? 0]) {
    process.kill(id, "SIGKILL");
  }
  await run;
  return printed;
}

function descendants(id: number): number[] {
  const children = readFileSync(`/proc/${id}/task/${id}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

async function machines(): Promise<string[]> {
  const filter = `label=${labelNames.machine}=local-control-plane-1`;
  const { stdout } = await execa("podman", ["ps", "--all", "--filter", filter, "--format", "{{.ID}} {{.Labels}}"]);
  return stdout.split("\n").filter(Boolean);
}

test("a run killed while the machine is made, and another while it boots, are finished by a third, with nothing doubled", async () => {
  const before = await machines();
  await killAt(/local:Machine .* creating/);
  await killAt(/guest:JoinInformation .* creating/);
  const output = await project.run("up", "--yes", "--skip-preview");
  expect(output).toContain("Took away the lock on the stack local: the run that held it was killed.");
  expect(output).toMatch(/An interrupted run was making .*: this one goes on with it/);
  expect(await machines()).toHaveLength(before.length + 1);
  expect(await project.run("preview")).toMatch(/12 unchanged/);
});

test("a single machine without workers is a whole cluster that runs ordinary pods", async () => {
  await project.fetchKubeconfig();
  project.kubectlProgram = (await kubectlProgram("1.37.2")) ?? "kubectl";
  await project.kubectl(["-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=120s"]);
  expect(await project.kubectl(["get", "nodes", "-o", "jsonpath={.items[*].spec.taints}"])).toBe("");
});
