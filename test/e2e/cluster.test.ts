/**
 * The main job: `up` makes a real cluster on this computer, and everything a person expects of it holds.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { labelNames } from "../../providers/local/labels";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { helloImage } from "../../setup/machine-image";
import { ClusterProject, eventually } from "./cluster-project";

let project: ClusterProject;
let output = "";

beforeAll(async () => {
  project = new ClusterProject();
  output = await project.run("up", "--yes", "--skip-preview");
  project.kubectlProgram = (await kubectlProgram("1.37.2")) ?? "kubectl";
  console.log(output);
});

afterAll(() => project.takeDown());

interface Node {
  metadata: { name: string };
  spec: { taints?: { key: string }[] };
  status: { nodeInfo: { kubeletVersion: string }; conditions: { type: string; status: string }[] };
}

interface Pod {
  metadata: { name: string };
  spec: { nodeName: string };
  status: { podIP: string; phase: string };
}

const nodes = async () => (await project.kubectlJson<{ items: Node[] }>("get", "nodes")).items;
const pods = async () => (await project.kubectlJson<{ items: Pod[] }>("get", "pods", "-l", "app=web")).items;
const isReady = ({ status }: Node) =>
  status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
const inPod = (pod: string, url: string) => project.kubectl(["exec", pod, "--", "/hello", "get", url]);

test("the kubeconfig names the cluster everywhere and reaches it over this computer's loopback address", async () => {
  const kubeconfig = parse(await project.fetchKubeconfig());
  expect(kubeconfig).toMatchObject({
    "current-context": "local",
    clusters: [{ name: "local", cluster: { server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:2\d{4}$/) } }],
    users: [{ name: "local" }],
    contexts: [{ name: "local", context: { cluster: "local", user: "local" } }],
  });
});

test("every machine is a Ready node of the right version, and the control plane takes no ordinary pods", async () => {
  const found = await nodes();
  expect(found.map(({ metadata }) => metadata.name).sort()).toEqual([
    "local-control-plane-1",
    "local-workers-1",
    "local-workers-2",
  ]);
  expect(found.map(({ status }) => status.nodeInfo.kubeletVersion)).toEqual(Array(3).fill("v1.37.2"));
  expect(found.filter(isReady)).toHaveLength(3);
  expect(found[0]?.spec.taints?.map(({ key }) => key)).toEqual(["node-role.kubernetes.io/control-plane"]);
});

describe("a Deployment with a Service", () => {
  beforeAll(async () => {
    const manifest = readFileSync(join(__dirname, "web.yaml"), "utf8").replace("HELLO_IMAGE", helloImage);
    await project.kubectl(["apply", "-f", "-"], manifest);
    await project.kubectl(["rollout", "status", "deployment/web", "--timeout=120s"]);
    await project.kubectl(["-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=120s"]);
  });

  test("has a pod on each worker, and pods of different machines reach each other by their addresses", async () => {
    const [one, other] = await pods();
    expect(new Set([one?.spec.nodeName, other?.spec.nodeName])).toEqual(
      new Set(["local-workers-1", "local-workers-2"]),
    );
    expect(await inPod(one?.metadata.name ?? "", `http://${other?.status.podIP}:8080/`)).toContain(
      `node=${other?.spec.nodeName} from=${one?.status.podIP}:`,
    );
    expect(await inPod(other?.metadata.name ?? "", `http://${one?.status.podIP}:8080/`)).toContain(
      `node=${one?.spec.nodeName} from=${other?.status.podIP}:`,
    );
  });

  test("answers by the name that the cluster's DNS gives it", async () => {
    for (const { metadata } of await pods()) {
      expect(await inPod(metadata.name, "http://web.default.svc.cluster.local/")).toContain("pod=web-");
    }
  });

  test("survives the restart of a machine, which keeps its address and its ports", async () => {
    const name = await containerOf("local-workers-1");
    const before = await execa("podman", ["port", name]);
    await execa("podman", ["restart", "--time", "5", name]);
    await eventually("the machine is a Ready node again", 120, nodes, (found) => found.filter(isReady).length === 3);
    expect((await execa("podman", ["port", name])).stdout).toBe(before.stdout);
    await eventually(
      "pods of both machines reach each other",
      120,
      async () => {
        const [one, other] = await pods();
        return inPod(one?.metadata.name ?? "", `http://${other?.status.podIP}:8080/`);
      },
      (answer) => answer.includes("pod=web-"),
    );
  });
});

test("a second up plans nothing and writes nothing", async () => {
  const again = await project.run("up", "--yes");
  expect(again.match(/19 unchanged/g)).toHaveLength(2);
  expect(again).not.toMatch(/to (create|update|replace|delete)|(created|updated|replaced|deleted)/);
});

test("a refresh finds everything as it is recorded", async () => {
  expect(await project.run("refresh", "--yes", "--skip-preview")).toMatch(/19 unchanged/);
});

test("a worker more previews as three named creates and nothing else", async () => {
  project.configure({ cloud: "local", pools: [{ name: "workers", count: 3 }] });
  const preview = await project.run("preview");
  expect(preview).toMatch(/\+ 3 to create\n +19 unchanged/);
  for (const part of ["host-key", "machine", "node"]) {
    expect(preview).toMatch(new RegExp(`cluster-workers-3-${part} create`));
  }
  project.configure({ cloud: "local", pools: [{ name: "workers", count: 2 }] });
});

test("no secret is in clear in the state, in what was printed, or in a machine's logs", async () => {
  const kubeconfig = parse(readFileSync(project.kubeconfigFile, "utf8"));
  const secrets = ["PRIVATE KEY", kubeconfig.users[0].user["client-key-data"]];
  const logs = await execa("podman", ["exec", await containerOf("local-workers-1"), "sh", "-c", "cat /var/log/*.log"]);
  for (const [place, text] of Object.entries({ output, state: project.leftOnDisk(), logs: logs.stdout })) {
    expect(
      secrets.filter((secret) => text.includes(secret)),
      place,
    ).toEqual([]);
  }
});

test("down removes the machines with their volumes, the network and every process, and nothing else", async () => {
  const { identity } = await ownContainers().then((found) => found[0] ?? { identity: "" });
  const volumes = await volumesOfContainers();
  expect(volumes.length).toBeGreaterThanOrEqual(3);
  await project.run("down", "--yes", "--skip-preview");
  expect(await listed("ps", "--all", "--quiet", "--filter", `label=${labelNames.identity}=${identity}`)).toEqual([]);
  expect(await listed("network", "ls", "--quiet", "--filter", `label=${labelNames.identity}=${identity}`)).toEqual([]);
  const left = await listed("volume", "ls", "--quiet");
  expect(volumes.filter((volume) => left.includes(volume))).toEqual([]);
  const processes = await execa("ps", ["-eo", "args"]);
  expect(
    processes.stdout.split("\n").filter((line) => line.includes(project.folder) && !line.includes("vitest")),
  ).toEqual([]);
});

async function listed(...args: string[]): Promise<string[]> {
  return (await execa("podman", args)).stdout.split("\n").filter((line) => line !== "");
}

/** The containers of this very project, which its kubeconfig's port tells. */
async function ownContainers(): Promise<{ id: string; machine: string; identity: string }[]> {
  const port = /127\.0\.0\.1:(\d+)/.exec(readFileSync(project.kubeconfigFile, "utf8"))?.[1];
  const labels = (id: string) => execa("podman", ["inspect", "--format", "{{json .Config.Labels}}", id]);
  const all = await Promise.all(
    (await listed("ps", "--all", "--quiet", "--filter", `label=${labelNames.cluster}`)).map(async (id) => ({
      id,
      labels: JSON.parse((await labels(id)).stdout) as Record<string, string>,
    })),
  );
  const identity = all.find((one) => one.labels[labelNames.apiPort] === port)?.labels[labelNames.identity];
  return all
    .filter((one) => one.labels[labelNames.identity] === identity)
    .map((one) => ({ id: one.id, machine: one.labels[labelNames.machine] ?? "", identity: identity ?? "" }));
}

async function containerOf(machine: string): Promise<string> {
  const found = (await ownContainers()).find((one) => one.machine === machine);
  return found?.id ?? "";
}

async function volumesOfContainers(): Promise<string[]> {
  const format = "{{range .Mounts}}{{.Name}} {{end}}";
  const ids = (await ownContainers()).map(({ id }) => id);
  return (await execa("podman", ["inspect", "--format", format, ...ids])).stdout
    .split(/\s+/)
    .filter((name) => name !== "");
}
