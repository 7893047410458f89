/**
 * Several clusters on one computer, of one machine each: two stacks of one project, and another project whose stack and
 * cluster have the same names. None touches another, and each goes without a trace.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { labelNames } from "../../providers/local/labels";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { ClusterProject } from "./cluster-project";

const single = { cloud: "local", controlPlane: { count: 1, schedulable: true }, pools: [] };
const [one, other] = [new ClusterProject(), new ClusterProject()];
const clusters = [
  { project: one, stack: "local" },
  { project: one, stack: "second" },
  { project: other, stack: "local" },
];
type Member = (typeof clusters)[number];

const run = ({ project, stack }: Member, verb: string, ...args: string[]) =>
  project.run(verb, ...args, "--stack", stack);

/** What of a cluster is on this computer, by the label that only it has. */
async function belongings(identity: string): Promise<string[]> {
  const filter = `label=${labelNames.identity}=${identity}`;
  const listed = await Promise.all([
    execa("podman", ["ps", "--all", "--no-trunc", "--filter", filter, "--format", "{{.ID}} {{.StartedAt}}"]),
    execa("podman", ["network", "ls", "--no-trunc", "--filter", filter, "--format", "{{.ID}}"]),
  ]);
  return listed.flatMap(({ stdout }) => stdout.split("\n").filter(Boolean));
}

interface Look {
  readonly identity: string;
  /** The id of the cluster itself, by its API. */
  readonly uid: string;
  readonly belongings: string[];
}

async function look(member: Member): Promise<Look> {
  const file = join(member.project.folder, `kubeconfig-${member.stack}`);
  await run(member, "kubeconfig", "--output", file);
  const kubectl = async (...args: string[]) =>
    (await execa((await kubectlProgram("1.37.2")) ?? "kubectl", ["--kubeconfig", file, ...args])).stdout;
  const server = await kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}");
  const uid = await kubectl("get", "namespace/kube-system", "-o", "jsonpath={.metadata.uid}");
  await kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=60s");
  const port = `label=${labelNames.apiPort}=${server.split(":").pop()}`;
  const format = `{{index .Labels "${labelNames.identity}"}}`;
  const identity = (await execa("podman", ["ps", "--all", "--filter", port, "--format", format])).stdout.trim();
  return { identity, uid, belongings: await belongings(identity) };
}

afterAll(async () => {
  for (const { project, stack } of clusters) {
    await project.start("down", "--yes", "--skip-preview", "--stack", stack);
  }
  one.remove();
  other.remove();
});

test("clusters of two stacks, and of one name in two projects, live and go side by side", async () => {
  one.configure(single);
  other.configure(single);
  const config = Object.fromEntries(Object.entries(single).map(([key, value]) => [`pulumi-kubicorn:${key}`, value]));
  writeFileSync(join(one.folder, "Pulumi.second.yaml"), stringify({ config }));
  const [first, second, namesake] = clusters as [Member, Member, Member];

  // The two of one name at the same moment.
  await Promise.all([first, namesake].map((member) => run(member, "up", "--yes", "--skip-preview")));
  await run(second, "up", "--yes", "--skip-preview");
  const before = [];
  for (const member of clusters) {
    before.push(await look(member));
  }
  expect(new Set(before.map(({ uid }) => uid)).size).toBe(3);
  expect(new Set(before.map(({ identity }) => identity)).size).toBe(3);
  for (const { belongings: found } of before) {
    expect(found).toHaveLength(2);
  }

  await run(first, "down", "--yes", "--skip-preview");
  expect(await belongings(before[0]?.identity ?? "")).toEqual([]);
  for (const [index, member] of [[1, second] as const, [2, namesake] as const]) {
    expect(await look(member)).toEqual(before[index]);
    const again = await run(member, "up", "--yes", "--skip-preview", "--refresh");
    expect(again).not.toMatch(/\b(created|updated|replaced|deleted)\b/);
  }
  for (const [index, member] of [[1, second] as const, [2, namesake] as const]) {
    await run(member, "down", "--yes", "--skip-preview");
    expect(await belongings(before[index]?.identity ?? "")).toEqual([]);
  }
});
