/**
 * What is removed, stopped or paused behind the back of a cluster, on one small cluster: refresh shows it, preview says what
 * is made, up mends that and nothing else, and then there is nothing left to do.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kubernetesVersions } from "../../cloud/spec";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { helloImage } from "../../setup/machine-image";
import { ClusterProject, eventually } from "./cluster-project";
import { machinesSeen, nodeUids, podman } from "./machines-seen";

const project = new ClusterProject();
const worker = "local-workers-1";
const controlPlane = "local-control-plane-1";

/** Container ids and Node uids, by which it is seen what was touched. */
interface Ids {
  readonly machines: Record<string, string>;
  readonly nodes: Record<string, string>;
}

let before: Ids;

async function ids(): Promise<Ids> {
  const machines = Object.entries(await machinesSeen(project)).map(([name, { id }]) => [name, id]);
  return { machines: Object.fromEntries(machines), nodes: await nodeUids(project) };
}

const containerOf = (name: string) => before.machines[name] ?? "";

/** Rows that change, as in "create workers-1-machine", in a preview as after the fact. */
function changesIn(output: string): string[] {
  const rows = output.matchAll(/^ *\S+ +pulumi-nodejs:\S+ cluster-(\S+) (create|update|delete|replace)d?\b/gm);
  return [...new Set([...rows].map(([, name, action]) => `${action} ${name}`))].sort();
}

/** Refresh, preview and up; then nothing is left to do. */
async function mend(): Promise<{ refreshed: string; previewed: string }> {
  const refreshed = await project.run("refresh", "--yes", "--skip-preview");
  const previewed = await project.run("preview");
  await project.run("up", "--yes", "--skip-preview");
  expect(changesIn(await project.run("up", "--yes", "--skip-preview"))).toEqual([]);
  return { refreshed, previewed };
}

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: "web", image: helloImage, imagePullPolicy: "Never" }],
      },
    },
  },
};

async function podRuns(): Promise<void> {
  interface Pods {
    items: { metadata: { deletionTimestamp?: string }; status: { phase: string } }[];
  }
  await eventually(
    "a pod of the Deployment runs",
    90,
    () => project.kubectlJson<Pods>("get", "pods", "-l", "app=web"),
    ({ items }) => items.some(({ metadata, status }) => !metadata.deletionTimestamp && status.phase === "Running"),
  );
}

beforeAll(async () => {
  project.configure({ cloud: "local", pools: [{ name: "workers", count: 1 }] });
  await project.run("up", "--yes", "--skip-preview");
  project.kubectlProgram = (await kubectlProgram(kubernetesVersions[0])) ?? "kubectl";
  await project.fetchKubeconfig();
  await project.kubectl(["apply", "-f", "-"], JSON.stringify(deployment));
  await podRuns();
});

beforeEach(async () => {
  await project.fetchKubeconfig();
  before = await ids();
});

afterAll(() => project.takeDown());

describe("what happens to one machine is mended there", () => {
  test.each([
    ["stopped", ["stop", "--time", "2"]],
    ["paused", ["pause"]],
  ])("%s: it is started, and is the same machine and node", async (_what, verb) => {
    await podman(...verb, containerOf(worker));
    const { refreshed, previewed } = await mend();
    expect(changesIn(refreshed)).toContain("update workers-1-machine");
    expect(changesIn(previewed)).toContain("update workers-1-machine");
    // Whether the whole cluster is ready is looked at again where a refresh found it not to be.
    expect(changesIn(previewed).filter((change) => !/ (workers-1-|readiness$)/.test(change))).toEqual([]);
    expect(await ids()).toEqual(before);
    await podRuns();
  });

  test("its Node object removed: it is made again for the same machine", async () => {
    await project.kubectl(["delete", `node/${worker}`]);
    const { refreshed, previewed } = await mend();
    expect(changesIn(refreshed)).toEqual(["delete workers-1-node"]);
    expect(changesIn(previewed)).toEqual(["create workers-1-node"]);
    const after = await ids();
    expect(after.machines).toEqual(before.machines);
    expect(after.nodes[controlPlane]).toBe(before.nodes[controlPlane]);
    expect(after.nodes[worker]).not.toBe(before.nodes[worker]);
    await podRuns();
  });

  test("removed: it is made anew, and no other is touched", async () => {
    await podman("rm", "--force", "--time", "0", containerOf(worker));
    const { refreshed, previewed } = await mend();
    expect(changesIn(refreshed)).toEqual(["delete workers-1-machine"]);
    expect(changesIn(previewed)).toContain("create workers-1-machine");
    expect(changesIn(previewed).filter((change) => !change.includes("workers-1-"))).toEqual([]);
    const after = await ids();
    expect(after.machines[controlPlane]).toBe(before.machines[controlPlane]);
    expect(after.machines[worker]).not.toBe(before.machines[worker]);
    expect(after.nodes[controlPlane]).toBe(before.nodes[controlPlane]);
    await podRuns();
  });
});

describe("what takes the cluster's data along is said before", () => {
  const gone = /so the cluster is a new one, .* Everything that was stored in the former cluster/;

  test("the control plane removed: a new cluster, which the worker joins anew", async () => {
    await podman("rm", "--force", "--time", "0", containerOf(controlPlane));
    const { refreshed, previewed } = await mend();
    expect(changesIn(refreshed)).toContain("delete control-plane-1-machine");
    expect(previewed).toMatch(gone);
    await project.fetchKubeconfig();
    const after = await ids();
    expect(after.machines[controlPlane]).not.toBe(before.machines[controlPlane]);
    expect(Object.keys(after.nodes).sort()).toEqual([controlPlane, worker]);
    await expect(project.kubectl(["get", "deployment/web"])).rejects.toThrow(/not found/i);
  });

  test("the network removed with all machines: everything is made anew", async () => {
    const network = Object.values(await machinesSeen(project))[0]?.network ?? "";
    await podman("network", "rm", "--force", network);
    const { refreshed, previewed } = await mend();
    expect(changesIn(refreshed)).toEqual(
      expect.arrayContaining(["delete network", "delete workers-1-machine", "delete control-plane-1-machine"]),
    );
    expect(previewed).toMatch(gone);
    await project.fetchKubeconfig();
    expect(Object.keys((await ids()).nodes).sort()).toEqual([controlPlane, worker]);
  });
});
