/**
 * Machines that are started anew, on one small cluster: one of them, all of them as after a restart of this computer, and
 * the engine's own watcher of one killed. The cluster comes back by itself, and everything by which it is reached stays.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kubernetesVersions } from "../../cloud/spec";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { helloImage } from "../../setup/machine-image";
import { ClusterProject, eventually } from "./cluster-project";
import { machinesSeen, nodeUids, podman, type SeenMachine, shownHostKey } from "./machines-seen";

const project = new ClusterProject();
const worker = "local-workers-1";
const controlPlane = "local-control-plane-1";

interface Seen {
  readonly machines: Record<string, SeenMachine>;
  readonly hostKeys: Record<string, string>;
  readonly uids: Record<string, string>;
}

let before: Seen;

async function look(): Promise<Seen> {
  const machines = await machinesSeen(project);
  const keys = Object.entries(machines).map(async ([name, machine]) => [name, await shownHostKey(machine)]);
  return { machines, hostKeys: Object.fromEntries(await Promise.all(keys)), uids: await nodeUids(project) };
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: { readonly ready: boolean; readonly containerID?: string }[];
  };
}

const podsOf = async () => (await project.kubectlJson<{ items: Pod[] }>("get", "pods", "-l", "app=web")).items;

/** One pod on each machine. */
const web = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        terminationGracePeriodSeconds: 1,
        tolerations: [{ operator: "Exists" }],
        containers: [{ name: "web", image: helloImage, imagePullPolicy: "Never" }],
      },
    },
  },
};

/** Both pods serve, in containers that were started since, and each is reached from the other's machine. */
async function podsReachEachOther(formerContainers: readonly string[] = []): Promise<void> {
  await eventually("pods of different machines reach each other", 90, tryPods, (problem) => problem === "");
  async function tryPods(): Promise<string> {
    const pods = await podsOf();
    const containers = pods.flatMap(({ status }) => status.containerStatuses ?? []);
    if (containers.length !== 2 || containers.some(({ ready }) => !ready)) {
      return "not all pods are ready";
    }
    if (containers.some(({ containerID = "" }) => formerContainers.includes(containerID))) {
      return "a container from before the restart is still listed";
    }
    for (const from of pods) {
      const to = pods.find((pod) => pod !== from)?.status.podIP;
      await project.kubectl(["exec", from.metadata.name, "--", "/hello", "get", `http://${to}:8080/`]);
    }
    return "";
  }
}

const containersOn = async (...nodes: string[]) =>
  (await podsOf())
    .filter(({ spec }) => nodes.includes(spec.nodeName))
    .flatMap(({ status }) => (status.containerStatuses ?? []).map(({ containerID = "" }) => containerID));

/** Nothing was made anew, and no run has anything to do. */
async function expectAsBefore(): Promise<void> {
  await eventually("every node is Ready", 60, readyNodes, (ready) => ready.length === 2);
  expect(await look()).toEqual(before);
  await project.run("refresh", "--yes", "--skip-preview");
  expect(await project.run("preview")).toMatch(/\bunchanged\b/);
  expect(await project.run("preview")).not.toMatch(/\b\d+ to (create|update|delete|replace)\b/);
}

async function readyNodes(): Promise<string[]> {
  interface Node {
    metadata: { name: string };
    status: { conditions: { type: string; status: string }[] };
  }
  const { items } = await project.kubectlJson<{ items: Node[] }>("get", "nodes");
  return items
    .filter(({ status }) => status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True"))
    .map(({ metadata }) => metadata.name);
}

beforeAll(async () => {
  project.configure({ cloud: "local", pools: [{ name: "workers", count: 1 }] });
  await project.run("up", "--yes", "--skip-preview");
  project.kubectlProgram = (await kubectlProgram(kubernetesVersions[0])) ?? "kubectl";
  await project.fetchKubeconfig();
  await project.kubectl(["apply", "-f", "-"], JSON.stringify(web));
  await podsReachEachOther();
});

beforeEach(async () => {
  before = await look();
});

afterAll(() => project.takeDown());

describe("the cluster comes back by itself, with all its addresses, ports, keys and ids", () => {
  test("after one machine was started anew", async () => {
    const former = await containersOn(worker);
    await podman("restart", "--time", "5", before.machines[worker]?.id ?? "");
    await podsReachEachOther(former);
    await expectAsBefore();
  });

  test("after all machines were stopped at once and started as a restart of this computer starts them", async () => {
    const former = await containersOn(worker, controlPlane);
    const ids = Object.values(before.machines).map(({ id }) => id);
    await podman("stop", "--time", "5", ...ids);
    await podman("start", ...ids);
    await podsReachEachOther(former);
    await expectAsBefore();
  });
});

test("a machine whose watcher was killed runs on, and after it was stopped up starts it", async () => {
  const { id = "", container = "" } = before.machines[worker] ?? {};
  const watcher = await podman("inspect", "--format", "{{.State.ConmonPid}}", id);
  process.kill(Number(watcher), "SIGKILL");
  await podsReachEachOther();
  const former = await containersOn(worker);
  await podman("stop", "--time", "5", id);
  const refreshed = await project.run("refresh", "--yes", "--skip-preview");
  expect(refreshed).toMatch(/workers-1-machine/);
  await project.run("up", "--yes", "--skip-preview");
  expect((await machinesSeen(project))[worker]).toMatchObject({ container, status: "running" });
  await podsReachEachOther(former);
  await expectAsBefore();
});
