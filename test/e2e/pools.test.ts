/**
 * Pools under change, on one small cluster that lives through all of it, in order: more and fewer machines, a second pool,
 * its labels, taints and kubelets in place, another name, a budget that blocks, a day later, a machine that is gone.
 */
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labelNames } from "../../providers/local/labels";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { helloImage } from "../../setup/machine-image";
import { ClusterProject, eventually } from "./cluster-project";

interface Node {
  metadata: { name: string; uid: string; labels: Record<string, string>; creationTimestamp: string };
  spec: { taints?: { key: string; value?: string; effect: string }[]; unschedulable?: boolean };
  status: { capacity: { pods: string }; conditions: { type: string; status: string; lastTransitionTime: string }[] };
}

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: { phase: string };
}

const project = new ClusterProject();
/** What the person has written, one key a pool. */
let pools: Record<string, Record<string, unknown>> = { workers: { count: 2, drainSeconds: 60 } };
let controlPlane: Record<string, unknown> = { count: 1 };

/** Writes the configuration; pools in the order of their keys. */
function configure(changes: Record<string, Record<string, unknown>> = {}): void {
  for (const [name, settings] of Object.entries(changes)) {
    pools[name] = { ...pools[name], ...settings };
  }
  const list = Object.entries(pools).map(([name, settings]) => ({ name, ...settings }));
  project.configure({ cloud: "local", controlPlane, pools: list });
}

const up = () => project.run("up", "--yes", "--skip-preview");

/** The rows of a preview or an up that change, as in "create workers-3-node"; components are left out. */
function changesIn(output: string): string[] {
  const rows = output.matchAll(/^ *\S+ +pulumi-nodejs:\S+ cluster-(\S+) (create|update|delete|replace)\b/gm);
  return [...new Set([...rows].map(([, name, action]) => `${action} ${name}`))].sort();
}

const previewed = async () => changesIn(await project.run("preview"));
const rowsOf = (action: string, ...machines: string[]) =>
  machines.flatMap((name) => ["host-key", "machine", "node"].map((part) => `${action} ${name}-${part}`)).sort();

async function nodes(): Promise<Record<string, Node>> {
  const { items } = await project.kubectlJson<{ items: Node[] }>("get", "nodes");
  for (const { spec } of items) {
    // Kubernetes takes its own mark of a new node away a moment after that is Ready.
    spec.taints = spec.taints?.filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
  }
  return Object.fromEntries(items.map((node) => [node.metadata.name.replace(/^local-/, ""), node]));
}

/** Machines by name: the id of each one's container. */
async function machines(): Promise<Record<string, string>> {
  const filter = `label=${labelNames.identity}=${await identity()}`;
  const format = `{{index .Labels "${labelNames.machine}"}} {{.ID}}`;
  const { stdout } = await execa("podman", ["ps", "--all", "--no-trunc", "--filter", filter, "--format", format]);
  const pairs = stdout.split("\n").map((line) => line.split(" "));
  return Object.fromEntries(pairs.map(([name = "", id = ""]) => [name.replace(/^local-/, ""), id]));
}

/** Of this very cluster, whose API port the kubeconfig tells. */
async function identity(): Promise<string> {
  const { stdout: server } = await execa(project.kubectlProgram, [
    ...["--kubeconfig", project.kubeconfigFile, "config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"],
  ]);
  const filter = `label=${labelNames.apiPort}=${server.split(":").pop()}`;
  const format = `{{index .Labels "${labelNames.identity}"}}`;
  return (await execa("podman", ["ps", "--all", "--filter", filter, "--format", format])).stdout.trim();
}

/** Node uids and container ids, by which it is seen what was touched. */
async function identities(): Promise<Record<string, string>> {
  const [found, containers] = [await nodes(), await machines()];
  return Object.fromEntries(
    Object.entries(found).map(([name, { metadata }]) => [name, `${metadata.uid} ${containers[name]}`]),
  );
}

function podTemplate(spec: object = {}): object {
  const web = { name: "web", image: helloImage, imagePullPolicy: "Never" };
  return { terminationGracePeriodSeconds: 1, containers: [web], ...spec };
}

async function apply(...objects: object[]): Promise<void> {
  await project.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
}

function deployment(name: string, replicas: number, spec: object = {}): object {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: podTemplate(spec) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

const rollout = (name: string) => project.kubectl(["rollout", "status", `deployment/${name}`, "--timeout=90s"]);
const podsOf = async (app: string) =>
  (await project.kubectlJson<{ items: Pod[] }>("get", "pods", "-l", `app=${app}`)).items.filter(
    ({ metadata }) => !metadata.deletionTimestamp,
  );

const configOf = async (name: string) =>
  JSON.parse(await project.kubectl(["get", "--raw", `/api/v1/nodes/local-${name}/proxy/configz`])).kubeletconfig;

beforeAll(async () => {
  configure();
  await up();
  project.kubectlProgram = (await kubectlProgram("1.37.2")) ?? "kubectl";
  await project.fetchKubeconfig();
});

afterAll(() => project.takeDown());

describe("the count of a pool", () => {
  test("2 -> 3 makes the third machine and touches no other", async () => {
    const before = await identities();
    configure({ workers: { count: 3 } });
    expect(await previewed()).toEqual(rowsOf("create", "workers-3"));
    await up();
    const after = await identities();
    expect(Object.keys(after).sort()).toEqual(["control-plane-1", "workers-1", "workers-2", "workers-3"]);
    expect(after).toMatchObject(before);
  });

  test("3 -> 1 moves the pods away, whatever kind they are, and leaves neither node nor machine", async () => {
    const before = await identities();
    const onThird = { nodeName: "local-workers-3" };
    await apply(
      deployment("web", 3),
      { apiVersion: "v1", kind: "Pod", metadata: { name: "bare" }, spec: podTemplate(onThird) },
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "kept", finalizers: ["example.com/keep"] },
        spec: podTemplate(onThird),
      },
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "finished" },
        spec: podTemplate({ ...onThird, restartPolicy: "Never", containers: [finishing] }),
      },
    );
    await rollout("web");
    await project.kubectl(["wait", "pod/bare", "pod/kept", "--for=condition=Ready", "--timeout=60s"]);
    configure({ workers: { count: 1 } });
    expect(await previewed()).toEqual(rowsOf("delete", "workers-2", "workers-3"));
    const output = await up();
    expect(output).toContain("pod default/bare had no controller, so nothing makes it anew elsewhere");
    const after = await identities();
    expect(after).toEqual({ "control-plane-1": before["control-plane-1"], "workers-1": before["workers-1"] });
    expect(Object.keys(await machines()).sort()).toEqual(["control-plane-1", "workers-1"]);
    await rollout("web");
    expect((await podsOf("web")).map(({ spec }) => spec.nodeName)).toEqual(Array(3).fill("local-workers-1"));
    await project.kubectl(["patch", "pod/kept", "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
    await project.kubectl(["delete", "deployment/web", "--wait=false"]);
  });
});

/** A container that ends at once. */
const finishing = {
  name: "web",
  image: helloImage,
  imagePullPolicy: "Never",
  command: ["/hello", "get", "http://127.0.0.1:1/"],
};

describe("a second pool", () => {
  test("comes with its labels, taints and kubelet settings, its machines side by side", async () => {
    const before = await identities();
    configure({
      batch: {
        count: 2,
        drainSeconds: 60,
        labels: { "example.com/kind": "batch", "node-restriction.kubernetes.io/tier": "low" },
        taints: [{ key: "batch", value: "yes", effect: "NoExecute" }],
        kubelet: { maxPods: 33, evictionHard: { "memory.available": "50Mi" } },
      },
    });
    expect(await previewed()).toEqual(rowsOf("create", "batch-1", "batch-2"));
    const output = await up();
    const joins = [...output.matchAll(/Node cluster-batch-(\d)-node (creating|created)/g)].map(([, , word]) => word);
    expect(joins.indexOf("created")).toBeGreaterThanOrEqual(2);
    expect(await identities()).toMatchObject(before);
    const found = await nodes();
    for (const name of ["batch-1", "batch-2"]) {
      expect(found[name]?.metadata.labels).toMatchObject({
        "example.com/kind": "batch",
        "node-restriction.kubernetes.io/tier": "low",
        "kubicorn.io/pool": "batch",
      });
      expect(found[name]?.spec.taints).toEqual([{ key: "batch", value: "yes", effect: "NoExecute" }]);
      expect(found[name]?.status.capacity.pods).toBe("33");
      // Over the cloud's own settings, and not instead of them.
      expect((await configOf(name)).evictionHard).toMatchObject({
        "memory.available": "50Mi",
        "nodefs.available": "0%",
      });
    }
    expect(found["workers-1"]?.status.capacity.pods).toBe("110");
  });

  test("written before the first one changes nothing", async () => {
    const { workers = {}, ...others } = pools;
    pools = { ...others, workers };
    configure();
    expect(await previewed()).toEqual([]);
  });

  test("with settings that kubelet refuses fails with kubelet's words, its former ones in force and every node Ready", async () => {
    configure({ batch: { kubelet: { evictionHard: { "moon.available": "5%" } } } });
    expect(await previewed()).toEqual(["update batch-1-node", "update batch-2-node"]);
    const { exitCode, all } = await project.start("up", "--yes", "--skip-preview");
    expect(exitCode).not.toBe(0);
    expect(all).toMatch(
      /kubelet does not run with these settings; it says:\s+.*unsupported eviction signal moon\.available/,
    );
    expect(all).toContain("Its former settings are in force again.");
    for (const name of ["batch-1", "batch-2"]) {
      expect((await configOf(name)).maxPods).toBe(33);
    }
    await project.kubectl(["wait", "nodes", "--all", "--for=condition=Ready", "--timeout=30s"]);
  });

  test("gets other labels, taints, kubelets and limits in place, and what others set by hand stays", async () => {
    const before = await identities();
    await project.kubectl(["label", "node/local-batch-1", "theirs=1"]);
    await project.kubectl(["taint", "node", "local-batch-1", "theirs=1:PreferNoSchedule"]);
    configure({
      batch: {
        drainSeconds: 6,
        labels: { "example.com/kind": "jobs" },
        taints: [{ key: "jobs", value: "", effect: "NoSchedule" }],
        kubelet: { maxPods: 44 },
      },
    });
    const preview = await project.run("preview");
    expect(changesIn(preview)).toEqual(["update batch-1-node", "update batch-2-node"]);
    expect(preview).toMatch(/batch-1-node update \[diff: \S*~drainSeconds,kubelet,labels,taints\]/);
    await up();
    expect(await identities()).toEqual(before);
    const found = await nodes();
    expect(found["batch-1"]?.metadata.labels).toMatchObject({ "example.com/kind": "jobs", theirs: "1" });
    expect(found["batch-2"]?.metadata.labels).not.toHaveProperty(["node-restriction.kubernetes.io/tier"]);
    expect(found["batch-1"]?.spec.taints?.map(({ key }) => key).sort()).toEqual(["jobs", "theirs"]);
    expect(found["batch-2"]?.spec.taints).toEqual([{ key: "jobs", effect: "NoSchedule" }]);
    await eventually(
      "kubelet tells its new capacity",
      30,
      nodes,
      (all) => all["batch-2"]?.status.capacity.pods === "44",
    );
    expect((await configOf("batch-1")).evictionHard).not.toHaveProperty(["memory.available"]);
    expect(await previewed()).toEqual([]);
  });

  test("under another name is another pool: its machines are Ready before the former ones are drained", async () => {
    const { batch = {}, ...others } = pools;
    pools = others;
    configure({ jobs: { ...batch, count: 1 } });
    expect(await previewed()).toEqual(
      [...rowsOf("create", "jobs-1"), ...rowsOf("delete", "batch-1", "batch-2")].sort(),
    );
    const output = await up();
    expect(output.indexOf("cluster-jobs-1-node created")).toBeGreaterThan(0);
    expect(output.indexOf("cluster-jobs-1-node created")).toBeLessThan(output.search(/cluster-batch-\d-node deleting/));
    const found = await nodes();
    expect(Object.keys(found).sort()).toEqual(["control-plane-1", "jobs-1", "workers-1"]);
    // As those have it that were changed in place.
    expect(found["jobs-1"]?.status.capacity.pods).toBe("44");
  });
});

describe("no workers at all, and a control plane that runs ordinary pods", () => {
  test("a budget that blocks a drain ends it at its limit, with pod and budget named and the node in service", async () => {
    const onJobs = { nodeSelector: { "kubicorn.io/pool": "jobs" } };
    await apply(
      deployment("guarded", 1, { ...onJobs, tolerations: [{ key: "jobs", operator: "Exists" }] }),
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "keep-guarded" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
      },
      // Its pods come back to a node that takes no others.
      deployment("stubborn", 1, { ...onJobs, tolerations: [{ operator: "Exists" }] }),
    );
    await rollout("guarded");
    await rollout("stubborn");
    controlPlane = { count: 1, schedulable: true };
    configure({ workers: { count: 0 }, jobs: { count: 0 } });
    expect(await previewed()).toEqual(
      [...rowsOf("delete", "jobs-1", "workers-1"), "update control-plane-1-node"].sort(),
    );
    const { exitCode, all } = await project.start("up", "--yes", "--skip-preview");
    expect(exitCode).not.toBe(0);
    expect(all).toMatch(
      /Node local-jobs-1 could not be drained and is in service again: waited 6 s .*pod default\/guarded-/,
    );
    expect(all).toContain("keep-guarded");
    const found = await nodes();
    expect(found["jobs-1"]?.spec.unschedulable).toBeUndefined();
    expect((await podsOf("guarded")).map(({ status }) => status.phase)).toEqual(["Running"]);
    expect(found["control-plane-1"]?.spec.taints).toBeUndefined();
  });

  test("the next up goes on when the budget is gone, also where the pods have nowhere to go", async () => {
    await project.kubectl(["delete", "pdb/keep-guarded"]);
    expect(await previewed()).toEqual(expect.arrayContaining(rowsOf("delete", "jobs-1")));
    await up();
    expect(Object.keys(await nodes())).toEqual(["control-plane-1"]);
    expect(Object.keys(await machines())).toEqual(["control-plane-1"]);
    expect((await podsOf("guarded")).map(({ spec }) => spec.nodeName)).toEqual([undefined]);
    await project.kubectl(["delete", "deployment/guarded", "deployment/stubborn"]);
    await apply(deployment("web", 1));
    await rollout("web");
  });

  test("a node joins a day later, with every token and what kubeadm published gone, and the control plane is its own again", async () => {
    const tokens = ["--field-selector", "type=bootstrap.kubernetes.io/token"];
    await project.kubectl(["-n", "kube-system", "delete", "secrets", ...tokens]);
    await project.kubectl(["-n", "kube-public", "delete", "configmap/cluster-info"]);
    controlPlane = { count: 1, schedulable: false };
    configure({ workers: { count: 1 } });
    expect(await previewed()).toEqual([...rowsOf("create", "workers-1"), "update control-plane-1-node"].sort());
    await up();
    const found = await nodes();
    expect(Object.keys(found).sort()).toEqual(["control-plane-1", "workers-1"]);
    expect(found["control-plane-1"]?.spec.taints).toEqual([
      { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
    ]);
    expect(await project.kubectl(["-n", "kube-system", "get", "secrets", ...tokens, "-o", "name"])).toBe("");
  });
});

test("a worker whose machine is gone is made anew in seconds, and its pods do not hold that up", async () => {
  const scratch = { volumes: [{ name: "scratch", emptyDir: {} }] };
  const worker = { nodeSelector: { "kubicorn.io/pool": "workers" } };
  await apply(deployment("scratch", 1, { ...scratch, ...worker, terminationGracePeriodSeconds: 600 }));
  await rollout("scratch");
  const before = await identities();
  await execa("podman", ["rm", "--force", "--volumes", "--time", "0", (await machines())["workers-1"] ?? ""]);
  const began = Date.now();
  await project.run("refresh", "--yes", "--skip-preview");
  const node = ["create", "delete", "replace"].map((action) => `${action} workers-1-node`);
  expect(await previewed()).toEqual(["create workers-1-machine", ...node].sort());
  const output = await up();
  expect((Date.now() - began) / 1000).toBeLessThan(60);
  expect(output).toContain("node local-workers-1 does not answer");
  expect((await identities())["workers-1"]).not.toBe(before["workers-1"]);
  await eventually(
    "a pod of the Deployment runs again",
    90,
    () => podsOf("scratch"),
    (found) => found.some(({ status, spec }) => status.phase === "Running" && spec.nodeName === "local-workers-1"),
  );
});
