/** Calls to the Kubernetes API: marks of nodes, join tokens, drains within budgets, and what each failure is called. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiAnswer, type ClusterApi, clusterApi } from "../../bootstrap/api";
import { drainNode, hasToLeave, toleratesCordon } from "../../bootstrap/drain";
import {
  awaitReadyNode,
  conditionsOf,
  listNodes,
  markingPatch,
  markNode,
  type NodeState,
  readNode,
  setCordoned,
  shortReason,
} from "../../bootstrap/nodes";
import { isBeingRemoved, markRemoval, unmarkRemoval } from "../../bootstrap/removal-mark";
import { withJoinToken } from "../../bootstrap/tokens";
import { DeadlineError, RemoteError, TransientError, UserError } from "../../cloud/errors";
import { RecordingContext } from "../doubles/context";
import { KubernetesApi, status } from "../doubles/kubernetes-api";

let double: KubernetesApi;
let api: ClusterApi;
let context: RecordingContext<never>;

beforeEach(async () => {
  double = await new KubernetesApi().start();
  api = await clusterApi(double.kubeconfig);
  context = new RecordingContext();
});

afterEach(() => double.stop());

const plain: NodeState = {
  name: "demo-1",
  uid: "u",
  machineId: "m",
  kubernetesVersion: "1.37.2",
  labels: {},
  taints: [],
  cordoned: false,
  isDrained: false,
  ready: { type: "Ready", status: "True", message: "" },
};
const none = { labels: {}, taints: [] };

describe("failures of a call", () => {
  it("an API that is out of reach is transient", async () => {
    await double.stop();
    await expect(readNode(api, "demo-1", context)).rejects.toBeInstanceOf(TransientError);
  });

  it("an API that is too busy is transient", async () => {
    double.failWith = 503;
    await expect(readNode(api, "demo-1", context)).rejects.toBeInstanceOf(TransientError);
  });

  it("a refusal is final and told in the API's words", async () => {
    double.failWith = 403;
    const error = await readNode(api, "demo-1", context).catch((caught) => caught);
    expect(error).toBeInstanceOf(ApiAnswer);
    expect(error.message).toContain("reading node demo-1 failed: the API answered 403: the double was told to fail");
  });

  it("another API's certificate is final", async () => {
    const foreign = double.kubeconfig.replace(
      /certificate-authority-data: .*/,
      `certificate-authority-data: ${otherAuthority}`,
    );
    const other = await clusterApi(foreign);
    const error = await readNode(other, "demo-1", context).catch((caught) => caught);
    expect(error).toBeInstanceOf(RemoteError);
    expect(error.message).toContain("it is not the API of this cluster");
  });

  it("an interruption ends a call at once", async () => {
    context.interrupt();
    await expect(listNodes(api, context)).rejects.toBeInstanceOf(DeadlineError);
  });

  it("nothing of that name is no failure", async () => {
    expect(await readNode(api, "demo-1", context)).toBeUndefined();
  });
});

describe("the wait for a node", () => {
  it("ends when it is Ready at its version, and says meanwhile what is missing", async () => {
    const waiting = awaitReadyNode(api, "demo-1", "1.37.2", context);
    setTimeout(() => double.addNode("demo-1", { ready: "False", message: "cni plugin not initialized" }), 200);
    setTimeout(() => double.addNode("demo-1"), 500);
    expect((await waiting).ready.status).toBe("True");
    expect(context.progressed.join()).toMatch(/has not registered yet.*cni plugin not initialized/);
  });

  it("survives an API that restarts meanwhile", async () => {
    const { port } = double;
    await double.stop();
    const waiting = awaitReadyNode(api, "demo-1", "1.37.2", context);
    setTimeout(async () => {
      double.addNode("demo-1");
      await double.start(port);
    }, 300);
    expect((await waiting).name).toBe("demo-1");
  });
});

describe("why a node is not Ready", () => {
  const network =
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady " +
    "message:Network plugin returns error: cni plugin not initialized";

  it.each([
    [network, "its pod network is not there yet"],
    [`[${network}, CSINode is not yet initialized]`, "its pod network is not there yet, its storage is starting"],
    ["CSINode is not yet initialized", "its storage is starting"],
    ["Kubelet stopped posting node status.", "its kubelet no longer reports"],
    [`[${network}, PLEG is not healthy: 3m]`, "its pod network is not there yet, PLEG is not healthy: 3m"],
    ["[PLEG is not healthy, something else]", "[PLEG is not healthy, something else]"],
    ["", ""],
  ])("%j is told as %j", (message, short) => {
    expect(shortReason(message)).toBe(short);
  });
});

describe("labels and taints", () => {
  const dedicated = { key: "dedicated", value: "batch", effect: "NoSchedule" } as const;
  const foreign = { key: "node.kubernetes.io/unreachable", value: "", effect: "NoExecute" } as const;

  it.each<[string, NodeState, Parameters<typeof markingPatch>[1], Parameters<typeof markingPatch>[2], unknown]>([
    ["nothing to do", plain, none, none, undefined],
    [
      "already there",
      { ...plain, labels: { a: "1" }, taints: [dedicated] },
      { labels: { a: "1" }, taints: [dedicated] },
      none,
      undefined,
    ],
    ["new label", plain, { labels: { a: "1" }, taints: [] }, none, { metadata: { labels: { a: "1" } } }],
    [
      "former label goes",
      { ...plain, labels: { a: "1", b: "2" } },
      none,
      { labels: { a: "1" }, taints: [] },
      { metadata: { labels: { a: null } } },
    ],
    ["someone else's label stays", { ...plain, labels: { theirs: "1" } }, none, none, undefined],
    [
      "taint beside someone else's",
      { ...plain, taints: [foreign] },
      { labels: {}, taints: [dedicated] },
      none,
      {
        metadata: { labels: {} },
        spec: { taints: [{ key: foreign.key, effect: foreign.effect }, dedicated] },
      },
    ],
    [
      "former taint goes, someone else's stays",
      { ...plain, taints: [foreign, dedicated] },
      none,
      { labels: {}, taints: [dedicated] },
      {
        metadata: { labels: {} },
        spec: { taints: [{ key: foreign.key, effect: foreign.effect }] },
      },
    ],
  ])("%s", (_title, node, expected, former, patch) => {
    expect(markingPatch(node, expected, former)).toEqual(patch);
  });

  it("reach the API and need no second call", async () => {
    double.addNode("demo-1", { labels: { theirs: "1" }, taints: [{ key: "theirs", effect: "NoExecute" }] });
    const wanted = { labels: { a: "1" }, taints: [dedicated] };
    await markNode(api, (await readNode(api, "demo-1", context)) as NodeState, wanted, none, context);
    const marked = (await readNode(api, "demo-1", context)) as NodeState;
    expect(marked.labels).toEqual({ theirs: "1", a: "1" });
    expect(marked.taints.map(({ key }) => key).sort()).toEqual(["dedicated", "theirs"]);
    expect(markingPatch(marked, wanted, none)).toBeUndefined();
  });
});

describe("a taint that somebody else gives just now", () => {
  it("is not lost when ours are set", async () => {
    const node = double.addNode("demo-1");
    node.metadata.resourceVersion = "1";
    const read = (await readNode(api, "demo-1", context)) as NodeState;
    node.metadata.resourceVersion = "2";
    node.spec.taints = [{ key: "theirs", effect: "NoExecute" }];
    const wanted = { labels: {}, taints: [{ key: "ours", value: "", effect: "NoSchedule" } as const] };
    await markNode(api, read, wanted, none, context);
    expect(node.spec.taints.map(({ key }: { key: string }) => key).sort()).toEqual(["ours", "theirs"]);
  });
});

describe("a join token", () => {
  it("is there during the join, short-lived, and gone after it", async () => {
    const seen = await withJoinToken(api, "demo-1", context, async (token) => {
      const [secret] = [...double.secrets.values()];
      expect(`${secret.stringData["token-id"]}.${secret.stringData["token-secret"]}`).toBe(token);
      expect(secret.type).toBe("bootstrap.kubernetes.io/token");
      expect(new Date(secret.stringData.expiration).getTime()).toBeLessThan(Date.now() + 3600 * 1000);
      return token;
    });
    expect(seen).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    expect(double.secrets.size).toBe(0);
  });

  it("goes when the join fails, and the join's error is the one told", async () => {
    const failing = withJoinToken(api, "demo-1", context, async () => {
      double.failWith = 500;
      throw new Error("kubeadm said no");
    });
    await expect(failing).rejects.toThrow("kubeadm said no");
  });
});

describe("a drain", () => {
  const pod = (name: string, metadata: object = {}, phase = "Running") => ({
    metadata: { name, namespace: "default", labels: { app: "web" }, ...metadata },
    spec: { nodeName: "demo-1" },
    status: { phase },
  });
  const budget = status(429, "Cannot evict pod as it would violate the pod's disruption budget.", [
    "The disruption budget web needs 2 healthy pods and has 2 currently",
  ]);

  it.each([
    ["an ordinary pod", {}, "Running", true],
    ["a pod of a ReplicaSet", { ownerReferences: [{ kind: "ReplicaSet", controller: true }] }, "Running", true],
    ["a pod of a DaemonSet", { ownerReferences: [{ kind: "DaemonSet", controller: true }] }, "Running", false],
    ["a mirror pod", { annotations: { "kubernetes.io/config.mirror": "x" } }, "Running", false],
    ["a pod that has finished", {}, "Succeeded", false],
  ])("%s", (_title, metadata, phase, leaves) => {
    expect(hasToLeave(pod("web", metadata, phase) as never)).toBe(leaves);
  });

  it("cordons first and evicts, but not what would come back", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web"), pod("proxy", { ownerReferences: [{ kind: "DaemonSet", controller: true }] })];
    await drainNode(api, plain, 5, context);
    expect(double.nodes.get("demo-1").spec.unschedulable).toBe(true);
    expect(double.pods.map(({ metadata }) => metadata.name)).toEqual(["proxy"]);
  });

  it("that a budget holds up waits, and goes on when the budget allows", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    let refusals = 2;
    double.onEviction = () => (refusals-- > 0 ? budget : undefined);
    await drainNode(api, plain, 10, context);
    expect(context.progressed.join()).toContain(
      "pod default/web may not be evicted: The disruption budget web needs 2",
    );
  });

  it("ends at its limit, names pod and budget, and puts the node back into service", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    double.onEviction = () => budget;
    const error = await drainNode(api, plain, 1, context).catch((caught) => caught);
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toMatch(
      /^Node demo-1 could not be drained and is in service again: .*pod default\/web .*disruption budget web/,
    );
    expect(double.nodes.get("demo-1").spec.unschedulable).toBeUndefined();
  });

  it("finds the budget's name where the API does not tell it", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    double.budgets = [{ metadata: { name: "keep-web" }, spec: { selector: { matchLabels: { app: "web" } } } }];
    double.onEviction = () => status(429, "Too many requests");
    await expect(drainNode(api, plain, 1, context)).rejects.toThrow(
      "disruption budget keep-web of namespace default allows none",
    );
  });

  it("leaves a node cordoned that a person had cordoned", async () => {
    double.addNode("demo-1", { unschedulable: true });
    double.pods = [pod("web")];
    double.onEviction = () => budget;
    await expect(drainNode(api, { ...plain, cordoned: true }, 1, context)).rejects.toThrow(
      "still cordoned, as it was before",
    );
    expect(double.nodes.get("demo-1").spec.unschedulable).toBe(true);
  });

  it("that another one before it was killed in puts the node back into service, which no person had cordoned", async () => {
    double.addNode("demo-1");
    await setCordoned(api, "demo-1", true, context);
    double.pods = [pod("web")];
    double.onEviction = () => budget;
    const found = (await readNode(api, "demo-1", context)) as NodeState;
    expect(conditionsOf(found)).toMatchObject([{ type: "Ready" }, { type: "InService", status: "False" }]);
    await expect(drainNode(api, found, 1, context)).rejects.toThrow("in service again");
    const after = (await readNode(api, "demo-1", context)) as NodeState;
    expect(after).toMatchObject({ cordoned: false, isDrained: false });
    expect(conditionsOf(after)).toHaveLength(1);
  });

  it("that is interrupted puts the node back into service", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    double.onEviction = () => budget;
    setTimeout(() => context.interrupt(), 300);
    await expect(drainNode(api, plain, 60, context)).rejects.toThrow("in service again");
    expect(double.nodes.get("demo-1").spec.unschedulable).toBeUndefined();
  });
});

describe("a drain that something else holds up", () => {
  const pod = (name: string, metadata: object = {}, spec: object = {}) => ({
    metadata: { name, namespace: "default", uid: name, ...metadata },
    spec: { nodeName: "demo-1", ...spec },
    status: { phase: "Running" },
  });

  it.each([
    ["tolerates everything", [{ operator: "Exists" }], true],
    ["tolerates this very taint", [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }], true],
    ["tolerates every NoSchedule", [{ operator: "Exists", effect: "NoSchedule" }], true],
    ["tolerates every NoExecute", [{ operator: "Exists", effect: "NoExecute" }], false],
    ["tolerates another taint", [{ key: "batch", operator: "Exists" }], false],
    ["tolerates nothing", undefined, false],
  ])("a pod that %s comes back: %s", (_title, tolerations, back) => {
    expect(toleratesCordon(pod("web", {}, { tolerations }) as never)).toBe(back);
  });

  it("by pods that come back to the very node ends when the first ones are gone", async () => {
    double.addNode("demo-1");
    const tolerations = [{ operator: "Exists" }];
    const owned = { ownerReferences: [{ kind: "ReplicaSet", controller: true }] };
    double.pods = [pod("web-0", owned, { tolerations })];
    let made = 0;
    double.onEviction = () => {
      made += 1;
      double.pods.push(pod(`web-${made}`, owned, { tolerations }));
      return undefined;
    };
    await drainNode(api, plain, 10, context);
    expect(made).toBe(1);
    expect(context.warned.join()).toMatch(/node demo-1 got pods again .* They end with it: default\/web-1$/);
  });

  it("of a dead node ends at once, with a warning that names the pods, and evicts nothing", async () => {
    double.addNode("demo-1", { ready: "Unknown", message: "Kubelet stopped posting node status." });
    double.pods = [pod("web"), pod("ending", { deletionTimestamp: "2026-12-01T00:00:00Z" })];
    await drainNode(api, plain, 60, context);
    expect(double.pods).toHaveLength(2);
    expect(context.warned.join()).toMatch(/^node demo-1 does not answer: .*default\/ending, default\/web\. Kubernetes/);
  });

  it("of a node whose kubelet is silent ends before Kubernetes has noticed", async () => {
    double.addNode("demo-1");
    double.silent.add("demo-1");
    double.pods = [pod("web", { deletionTimestamp: "2026-12-01T00:00:00Z" })];
    await drainNode(api, plain, 60, context, 1);
    expect(context.warned).toHaveLength(1);
  });

  it("of a node whose kubelet is silent for a moment goes on", async () => {
    double.addNode("demo-1");
    double.silent.add("demo-1");
    double.pods = [pod("web")];
    setTimeout(() => double.silent.clear(), 600);
    await drainNode(api, plain, 60, context, 5);
    expect(double.pods).toEqual([]);
    expect(context.progressed.join()).toContain("its kubelet does not answer");
    expect(context.warned.join()).not.toContain("does not answer");
  });

  it("of a node that only calls itself not Ready evicts as ever", async () => {
    double.addNode("demo-1", { ready: "False", message: "the container runtime is down" });
    double.pods = [pod("web", { ownerReferences: [{ kind: "ReplicaSet", controller: true }] })];
    await drainNode(api, { ...plain, ready: { type: "Ready", status: "False", message: "" } }, 60, context);
    expect(double.pods).toEqual([]);
    expect(context.warned).toEqual([]);
  });

  it("survives an API that restarts in its middle", async () => {
    const { port } = double;
    double.addNode("demo-1");
    double.pods = [pod("web")];
    let refusals = 1;
    double.onEviction = () => (refusals-- > 0 ? status(500, "etcd is away") : undefined);
    setTimeout(() => double.stop(), 300);
    setTimeout(() => double.start(port), 1500);
    await drainNode(api, plain, 30, context);
    expect(double.pods).toEqual([]);
  });

  it("survives an API that is too busy for a call", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    double.busy = 3;
    await drainNode(api, plain, 30, context);
    expect(double.pods).toEqual([]);
  });

  it("says how long a pod may take to end", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web", { deletionTimestamp: "2026-12-01T00:00:00Z", deletionGracePeriodSeconds: 3600 })];
    await expect(drainNode(api, plain, 1, context)).rejects.toThrow(
      "pod default/web is ending, for which it may take 3600 s",
    );
  });

  it("by two budgets for one pod names that pod", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    double.onEviction = () => status(500, "This pod has more than one PodDisruptionBudget");
    await expect(drainNode(api, plain, 1, context)).rejects.toThrow(
      /pod default\/web may not be evicted: .*This pod has more than one PodDisruptionBudget/,
    );
  });

  it("tells the first of many pods, those that are refused before those that are ending", async () => {
    double.addNode("demo-1");
    double.pods = [
      ...Array.from({ length: 20 }, (_, index) => pod(`a-${index}`, { deletionTimestamp: "2026-12-01T00:00:00Z" })),
      pod("web"),
    ];
    double.onEviction = () => status(429, "no", ["The disruption budget web needs 1"]);
    const error = await drainNode(api, plain, 1, context).catch((caught) => caught);
    expect(error.message).toMatch(/last: pod default\/web may not be evicted.*; and 16 more\. Nothing/);
  });

  it("asks more and more seldom where a budget has refused", async () => {
    double.addNode("demo-1");
    double.pods = [pod("web")];
    double.onEviction = () => status(429, "no", ["The disruption budget web needs 1"]);
    await expect(drainNode(api, plain, 5, context)).rejects.toThrow("disruption budget web");
    const asked = double.calls.filter(({ path }) => path.endsWith("/eviction")).length;
    expect([2, 3]).toContain(asked);
  });

  it("evicts a pod without a controller, and says that nothing makes it anew", async () => {
    double.addNode("demo-1");
    double.pods = [pod("bare")];
    await drainNode(api, plain, 5, context);
    expect(double.pods).toEqual([]);
    expect(context.warned).toEqual(["pod default/bare had no controller, so nothing makes it anew elsewhere"]);
  });
});

describe("the mark of removal", () => {
  it("is set once or twice, seen, and taken away", async () => {
    expect(await isBeingRemoved(api, context)).toBe(false);
    await markRemoval(api, "demo", context);
    await markRemoval(api, "demo", context);
    expect(double.configMaps.has("kubicorn-removal")).toBe(true);
    expect(await isBeingRemoved(api, context)).toBe(true);
    await unmarkRemoval(api, context);
    expect(await isBeingRemoved(api, context)).toBe(false);
    await unmarkRemoval(api, context);
  });

  it("is known in the run that set it, even when the API is out of reach", async () => {
    await double.stop();
    await expect(markRemoval(api, "demo", context)).rejects.toBeInstanceOf(TransientError);
    expect(await isBeingRemoved(api, context)).toBe(true);
  });
});

/** A certificate authority that nothing is signed by. */
const otherAuthority =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlakNDQVNHZ0F3SUJBZ0lVWDVqTkNGV0hLcDJWcm1ycU90MGg3bHZ4WCtvd0NnWUlLb1pJemowRUF3SXcKRWpFUU1BNEdBMVVFQXd3SFlXNXZkR2hsY2pBZ0Z3MHlOakV4TXpBeU16RTRNalphR0E4eU1USTJNVEV3TmpJegpNVGd5Tmxvd0VqRVFNQTRHQTFVRUF3d0hZVzV2ZEdobGNqQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VICkEwSUFCSFRickplSGZhc1FHa2lnckRyWWlxcHV0WGJaVnBEcVJabjRVdTlWUXo1YjRIYzd2OE14cVdLOXF5U1gKQzJieHd2UjdLZGV4Vzh4bFRlRjR5ci9DbTJPalV6QlJNQjBHQTFVZERnUVdCQlM0YXVGVXYyWThWRlc2b09NRwpZRXY5Z1BrdUdEQWZCZ05WSFNNRUdEQVdnQlM0YXVGVXYyWThWRlc2b09NR1lFdjlnUGt1R0RBUEJnTlZIUk1CCkFmOEVCVEFEQVFIL01Bb0dDQ3FHU000OUJBTUNBMGNBTUVRQ0lFVlBwUlJvRDVvS0lnV1o5ZS9JOEozS0V3bFkKNkJoWnBTZnlGeXBWR0lpNkFpQXJvdzU1ekVXYzZhMHNDVjEwYnVid1pzMnNDOWkvczZRcFQ3bit3amNSNXc9PQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";
