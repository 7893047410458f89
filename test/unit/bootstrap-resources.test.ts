/** The guest Resources: plans as tables, and their four verbs against a machine's SSH server and a Kubernetes API in this process. */
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import ssh2 from "ssh2";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { guestResources } from "../../bootstrap";
import { hostKey } from "../../bootstrap/host-key";
import { joinInformation } from "../../bootstrap/join-information";
import { makeKeyPair } from "../../bootstrap/keys";
import { controlPlaneTaints } from "../../bootstrap/kubeadm-config";
import { kubeconfig } from "../../bootstrap/kubeconfig";
import { type NodeActual, type NodeExpected, node } from "../../bootstrap/node";
import { readiness } from "../../bootstrap/readiness";
import type { SshAccess } from "../../bootstrap/ssh";
import { sshKey } from "../../bootstrap/ssh-key";
import { RemoteError } from "../../cloud/errors";
import { toPlainJson } from "../../cloud/json";
import { certificate } from "../doubles/certificate";
import { RecordingContext } from "../doubles/context";
import { KubernetesApi } from "../doubles/kubernetes-api";
import { SshMachine } from "../doubles/ssh-server";

let api: KubernetesApi;
let machine: SshMachine;
let wanted: NodeExpected;

beforeEach(async () => {
  api = await new KubernetesApi().start();
  machine = await new SshMachine().start();
  wanted = {
    machine: "demo-workers-1",
    joins: true,
    access: machine.access,
    apiEndpoint: "api.demo.kubicorn.internal:6443",
    endpointAddress: "10.99.0.10",
    caCertificate: "CA",
    kubeconfig: api.kubeconfig,
    kubernetesVersion: "1.37.2",
    labels: { disk: "fast" },
    taints: [{ key: "dedicated", value: "batch", effect: "NoSchedule" }],
    kubelet: { maxPods: 50 },
    drainSeconds: 300,
    pool: "workers",
  };
});

afterEach(async () => {
  await Promise.all([api.stop(), machine.stop()]);
});

const ready = { type: "Ready", status: "True", message: "" } as const;
const recordedNode = (changes: Partial<NodeActual> = {}): NodeActual => ({
  ...wanted,
  uid: "uid-demo-workers-1",
  address: "10.99.0.11",
  conditions: [ready],
  ...changes,
});

describe("every kind", () => {
  it.each(Object.entries(guestResources))("%s refuses unknown inputs", (_kind, resource) => {
    expect(resource().expected.safeParse({ nonsense: 1 }).success).toBe(false);
  });
});

describe("keys", () => {
  it("are ed25519, usable, and stay the same when applied again", async () => {
    const made = await sshKey.apply({ comment: "demo/local" }, undefined, new RecordingContext());
    expect(made.actual.publicKey).toMatch(/^ssh-ed25519 \S+ demo\/local$/);
    expect(made.actual.identity).toMatch(/^[0-9a-f]{6}$/);
    expect(ssh2.utils.parseKey(made.actual.privateKey)).not.toBeInstanceOf(Error);
    const again = await sshKey.apply({ comment: "renamed" }, made, new RecordingContext());
    expect(again.actual).toEqual({ ...made.actual, comment: "renamed" });
    expect(sshKey.plan(made.actual, { comment: "renamed" })).toEqual([]);
  });

  it("are whole, every one of them", async () => {
    for (let count = 0; count < 1500; count += 1) {
      const { publicKey, privateKey } = await makeKeyPair("demo");
      expect(ssh2.utils.parseKey(privateKey)).not.toBeInstanceOf(Error);
      expect(Buffer.from(publicKey.split(" ")[1] ?? "", "base64")).toHaveLength(51);
    }
  });

  it("of a host follow the machine of their slot", async () => {
    const made = await hostKey.apply({ machine: "demo-1" }, undefined, new RecordingContext());
    expect(hostKey.plan(made.actual, { machine: "demo-1" })).toEqual([]);
    expect(hostKey.plan(made.actual, { machine: "demo-2" })).toEqual([
      { name: "followMachine", property: "machine", action: "update" },
    ]);
  });
});

describe("join information", () => {
  const printed = { caCertificate: "-----BEGIN CERTIFICATE-----\nx\n", caHash: `sha256:${"0a".repeat(32)}` };

  it("is what the machine prints once it can be joined", async () => {
    machine.answer = () => ({ stdout: JSON.stringify(printed) });
    const inputs = { machine: "demo-control-plane-1", access: machine.access };
    const { id, actual } = await joinInformation.apply(inputs, undefined, new RecordingContext());
    expect(id).toBe(printed.caHash);
    expect(actual).toEqual({ ...inputs, ...printed });
    expect(machine.asked[0]?.command).toMatch(/exec sudo -n \/usr\/local\/lib\/kubicorn\/join-information\.sh 900$/);
  });

  it("ends at once with the failed step and the log's end when the bootstrap failed", async () => {
    machine.answer = () => ({
      stderr: "the bootstrap failed at: starting the control plane\nno space left on device\n",
      code: 1,
    });
    const applying = joinInformation.apply(
      { machine: "demo-control-plane-1", access: machine.access },
      undefined,
      new RecordingContext(),
    );
    const error = await applying.catch((caught) => caught);
    expect(error).toBeInstanceOf(RemoteError);
    expect(error.message).toContain("demo-control-plane-1: bringing up the machine failed");
    expect(error.message).toContain("the bootstrap failed at: starting the control plane\nno space left on device");
    expect(machine.asked).toHaveLength(1);
  });

  it.each([
    ["where it is reached", (access: SshAccess) => ({ access: { ...access, host: "other", port: 2 } }), []],
    ["its host key", (access: SshAccess) => ({ access: { ...access, hostKey: "ssh-ed25519 other" } }), ["access"]],
    ["its name", () => ({ machine: "other" }), ["machine"]],
    ["the cloud's id of it", () => ({ machineId: "other" }), ["machineId"]],
  ])("is learnt anew, or not, when %s changes", (_title, change, properties) => {
    const inputs = { machine: "demo-control-plane-1", access: machine.access, machineId: "one" };
    const facts = joinInformation.plan({ ...inputs, ...printed }, { ...inputs, ...change(inputs.access) });
    expect(facts.map(({ property }) => property)).toEqual(properties);
    expect(facts.every(({ action }) => action === "replace")).toBe(true);
  });
});

describe("the kubeconfig", () => {
  const adminConf = `
clusters: [{ name: kubernetes, cluster: { server: "https://api.demo:6443", certificate-authority-data: Q0E= } }]
users: [{ name: kubernetes-admin, user: { client-certificate-data: Q0VSVA==, client-key-data: S0VZ } }]
contexts: [{ name: kubernetes-admin@kubernetes, context: { cluster: kubernetes, user: kubernetes-admin } }]
current-context: kubernetes-admin@kubernetes
`;

  it("carries the cluster's own name everywhere and the address that this computer uses", async () => {
    machine.answer = () => ({ stdout: adminConf });
    const inputs = { cluster: "demo", access: machine.access, server: "https://127.0.0.1:20001" };
    const { actual } = await kubeconfig.apply(inputs, undefined, new RecordingContext());
    expect(parse(actual.kubeconfig)).toEqual({
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "demo", cluster: { server: "https://127.0.0.1:20001", "certificate-authority-data": "Q0E=" } },
      ],
      users: [{ name: "demo", user: { "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ" } }],
      contexts: [{ name: "demo", context: { cluster: "demo", user: "demo" } }],
      "current-context": "demo",
    });
    expect(kubeconfig.plan(actual, { ...inputs, server: "https://127.0.0.1:20002" })).toEqual([
      { name: "updateServer", property: "server", action: "update" },
    ]);
  });
});

describe("a node's plan", () => {
  it.each<[string, Partial<NodeActual>, Partial<NodeExpected>, string[]]>([
    ["nothing", {}, {}, []],
    ["where it is reached", {}, { access: { host: "h", port: 1, user: "u", privateKey: "k", hostKey: "SAME" } }, []],
    ["the credential's renewal", {}, { kubeconfig: "renewed" }, []],
    ["another machine", {}, { machineId: "two" }, ["replace replaceMachine"]],
    ["another cluster", {}, { caCertificate: "another CA" }, ["replace replaceCluster"]],
    ["a version", {}, { kubernetesVersion: "1.38.0" }, ["replace replaceVersion"]],
    ["labels", {}, { labels: { disk: "slow" } }, ["update updateLabels"]],
    ["labels in another order", { labels: { a: "1", b: "2" } }, { labels: { b: "2", a: "1" } }, []],
    ["taints", {}, { taints: [] }, ["update updateTaints"]],
    ["kubelet settings", {}, { kubelet: { maxPods: 60 } }, ["update updateKubelet"]],
    [
      "kubelet settings in another order",
      { kubelet: { maxPods: 9, evictionHard: { a: "1", b: "2" } } },
      { kubelet: { evictionHard: { b: "2", a: "1" }, maxPods: 9 } },
      [],
    ],
    ["the limit of a drain", {}, { drainSeconds: 60 }, ["update updateDrainLimit"]],
    ["the pool's name", {}, { pool: "others" }, ["update updatePool"]],
    [
      "a node whose drain was cut off",
      { conditions: [ready, { type: "InService", status: "False", message: "" }] },
      {},
      ["update restoreService"],
    ],
    ["a node that is not Ready", { conditions: [{ ...ready, status: "False" }] }, {}, ["update restoreService"]],
  ])("%s", (_title, actual, expected, facts) => {
    const inputs = { ...wanted, machineId: "one", ...expected };
    if (inputs.access.hostKey === "SAME") {
      inputs.access = { ...inputs.access, hostKey: wanted.access.hostKey };
    }
    const plan = node.plan(recordedNode({ machineId: "one", ...actual }), inputs);
    expect(plan.map(({ action, name }) => `${action} ${name}`)).toEqual(facts);
  });

  const formerRecord = (changes: Partial<NodeActual>): NodeActual => {
    const { kubelet: _kubelet, drainSeconds: _drainSeconds, ...former } = recordedNode({ taints: [], ...changes });
    return former as NodeActual;
  };

  it.each<[string, Partial<NodeActual>, Partial<NodeExpected>, string[]]>([
    ["a worker's", {}, { taints: [] }, []],
    ["a worker's with settings from now on", {}, { taints: [], kubelet: { maxPods: 9 } }, ["updateKubelet"]],
    ["the control plane's", { pool: "control-plane" }, { taints: controlPlaneTaints(false) }, []],
    ["the control plane's, schedulable from now on", { pool: "control-plane" }, { taints: [] }, ["updateTaints"]],
  ])("of a record of the former version: %s", (_title, actual, expected, facts) => {
    const inputs = { ...wanted, kubelet: {}, pool: actual.pool ?? "workers", ...expected };
    expect(node.plan(formerRecord(actual), inputs).map(({ name }) => name)).toEqual(facts);
  });

  it("takes taints in any order as the same", () => {
    const taints: NodeExpected["taints"] = [
      { key: "a", value: "", effect: "NoSchedule" },
      { key: "b", value: "", effect: "NoSchedule" },
    ];
    expect(node.plan(recordedNode({ taints }), { ...wanted, taints: [...taints].reverse() })).toEqual([]);
  });
});

describe("a node's apply", () => {
  it("joins with a token of its own on standard input, then labels, and records plain JSON", async () => {
    let token = "";
    machine.answer = ({ command, stdin }) => {
      if (command.includes("join.sh")) {
        const [kubelet = "", ...discovery] = stdin.split("\n");
        expect(kubelet).toBe('{"maxPods":50}');
        token = parse(discovery.join("\n")).users[0].user.token;
        expect(api.secrets.has(`bootstrap-token-${token.split(".")[0]}`)).toBe(true);
        api.addNode(wanted.machine);
      }
      return {};
    };
    const context = new RecordingContext<NodeActual>();
    const { id, actual } = await node.apply(wanted, undefined, context);
    expect(id).toBe("demo-workers-1");
    expect(actual).toEqual(recordedNode({ address: "10.99.0.11" }));
    expect(toPlainJson(actual)).toEqual(actual);
    expect(context.recorded.map(({ id: made }) => made)).toEqual(["demo-workers-1"]);
    expect(machine.asked.map(({ command }) => command.split("/").pop())).toEqual(["join.sh 10.99.0.10'"]);
    expect(machine.asked[0]?.command).not.toContain(token);
    expect(api.secrets.size).toBe(0);
    expect(api.nodes.get(wanted.machine).metadata.labels).toEqual({ disk: "fast", "kubicorn.io/pool": "workers" });
  });

  it("of the first control plane waits for its own making and joins nothing", async () => {
    machine.answer = () => {
      api.addNode("demo-control-plane-1");
      return {};
    };
    const inputs = { ...wanted, machine: "demo-control-plane-1", joins: false, pool: "control-plane" };
    await node.apply(inputs, undefined, new RecordingContext());
    expect(machine.asked.map(({ command, stdin }) => command.split("/").pop() + stdin.slice(0, 15))).toEqual([
      "wait.sh initialized 900",
      expect.stringMatching(/bash -s -- "\$argument"'\{"maxPods":50\}\n$/),
    ]);
    expect(api.calls.some(({ path }) => path.includes("secrets"))).toBe(false);
  });

  it("after a crash finishes what it had begun: the same machine is not joined twice", async () => {
    api.addNode(wanted.machine, { machineId: "abc" });
    machine.answer = ({ command }) => ({ stdout: command.includes("machine-id") ? "abc\n" : "" });
    await node.apply(wanted, undefined, new RecordingContext());
    expect(machine.asked.map(({ command }) => command)).toEqual(["cat /etc/machine-id"]);
  });

  it("takes away the Node object of an earlier machine of that name and joins", async () => {
    api.addNode(wanted.machine, { machineId: "old" });
    machine.answer = ({ command }) => {
      if (command.includes("join.sh")) {
        expect(api.nodes.size).toBe(0);
        api.addNode(wanted.machine);
      }
      return { stdout: command.includes("machine-id") ? "new\n" : "" };
    };
    await node.apply(wanted, undefined, new RecordingContext());
    expect(api.nodes.get(wanted.machine).status.nodeInfo.machineID).toBe("machine-demo-workers-1");
  });

  it("updates labels and taints without touching the machine", async () => {
    api.addNode(wanted.machine, { labels: { disk: "fast", theirs: "1" } });
    const recorded = { id: wanted.machine, actual: recordedNode() };
    await node.apply({ ...wanted, labels: { disk: "slow" } }, recorded, new RecordingContext());
    expect(machine.asked).toEqual([]);
    expect(api.nodes.get(wanted.machine).metadata.labels).toEqual({
      disk: "slow",
      theirs: "1",
      "kubicorn.io/pool": "workers",
    });
  });

  it("records another limit of its drain without a call to anybody", async () => {
    const recorded = { id: wanted.machine, actual: recordedNode() };
    const { actual } = await node.apply({ ...wanted, drainSeconds: 60 }, recorded, new RecordingContext());
    expect(actual).toEqual(recordedNode({ drainSeconds: 60 }));
    expect([api.calls, machine.asked]).toEqual([[], []]);
  });

  it("sends new kubelet settings with the script that sets them, whatever scripts the machine has", async () => {
    api.addNode(wanted.machine);
    const recorded = { id: wanted.machine, actual: recordedNode() };
    await node.apply({ ...wanted, kubelet: { maxPods: 60 } }, recorded, new RecordingContext());
    const [{ command = "", stdin = "" } = {}] = machine.asked;
    expect(machine.asked).toHaveLength(1);
    expect(command).not.toContain("/usr/local/lib/kubicorn");
    expect(stdin).toBe(`{"maxPods":60}\n${readFileSync("bootstrap/scripts/sent/update-kubelet.sh", "utf8")}`);
  });

  it("tells what kubelet says to settings that it refuses, and does not try them on a second machine", async () => {
    api.addNode(wanted.machine);
    const words = "kubelet does not run with these settings; it says:\nmaxPods must not be negative\n";
    machine.answer = () => ({ stderr: words, code: 1 });
    const apply = () =>
      node.apply(
        { ...wanted, kubelet: { maxPods: 61 } },
        { id: wanted.machine, actual: recordedNode() },
        new RecordingContext(),
      );
    await expect(apply()).rejects.toThrow(
      /demo-workers-1: changing kubelet's settings failed[\s\S]*must not be negative/,
    );
    await expect(apply()).rejects.toThrow(/were not tried on demo-workers-1, since demo-workers-1 has refused them/);
    expect(machine.asked).toHaveLength(1);
  });

  it("takes the control plane's taint away that a former version set and did not record", async () => {
    const [taint] = controlPlaneTaints(false);
    api.addNode(wanted.machine, { taints: [taint] });
    const { kubelet: _kubelet, drainSeconds: _limit, ...former } = recordedNode({ pool: "control-plane", taints: [] });
    const inputs = { ...wanted, kubelet: {}, taints: [], pool: "control-plane", joins: false };
    await node.apply(inputs, { id: wanted.machine, actual: former as NodeActual }, new RecordingContext());
    expect(api.nodes.get(wanted.machine).spec.taints).toEqual([]);
  });

  it("starts a stopped kubelet and waits until the node is Ready", async () => {
    api.addNode(wanted.machine, { ready: "Unknown", message: "Kubelet stopped posting node status." });
    machine.answer = () => {
      api.addNode(wanted.machine);
      return {};
    };
    await node.apply(wanted, { id: wanted.machine, actual: recordedNode() }, new RecordingContext());
    expect(machine.asked[0]?.command).toContain("systemctl start containerd.service kubelet.service");
  });

  it.each([
    { printed: "active\ninactive\n", told: "kubelet is inactive on its machine" },
    { printed: "failed\nactive\n", told: "containerd is failed on its machine" },
    { printed: "failed\ninactive\n", told: "containerd is failed, kubelet is inactive on its machine" },
  ])("is not Ready as soon as its machine says $told, while the API still takes it for Ready", async (look) => {
    api.addNode(wanted.machine);
    machine.answer = () => ({ stdout: look.printed });
    const seen = await node.actual({ id: wanted.machine, actual: recordedNode() }, new RecordingContext());
    expect(seen?.conditions).toEqual([{ type: "Ready", status: "False", message: look.told }]);
    expect(node.plan(seen as NodeActual, wanted).map(({ name }) => name)).toContain("restoreService");
  });

  it.each(["active\nactive\n", "activating\nreloading\n", "", "Failed to connect to bus: No such file\n"])(
    "is what the API says when its machine says %j",
    async (stdout) => {
      api.addNode(wanted.machine);
      machine.answer = () => ({ stdout });
      const seen = await node.actual({ id: wanted.machine, actual: recordedNode() }, new RecordingContext());
      expect(seen?.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
    },
  );

  it("tells a join that failed with the log's end, and leaves no token", async () => {
    machine.answer = () => ({ stderr: "error execution phase preflight: the disk is full\n", code: 1 });
    const error = await node.apply(wanted, undefined, new RecordingContext()).catch((caught) => caught);
    expect(error.message).toMatch(/^demo-workers-1: joining the cluster failed \(exit code 1\): .*the disk is full/);
    expect(api.secrets.size).toBe(0);
  });
});

describe("a node's actual", () => {
  const look = (context: RecordingContext<NodeActual>, changes: Partial<NodeActual> = {}) =>
    node.actual({ id: wanted.machine, actual: recordedNode(changes) }, context);

  it("is gone only when the API says so", async () => {
    expect(await look(new RecordingContext())).toBeUndefined();
  });

  it("shows what of ours has changed, and nothing of others", async () => {
    api.addNode(wanted.machine, {
      labels: { disk: "slow", theirs: "1" },
      taints: [{ key: "theirs", effect: "NoSchedule" }],
      ready: "False",
      message: "the container runtime is down",
    });
    const seen = await look(new RecordingContext());
    expect(seen?.labels).toEqual({ disk: "slow" });
    expect(seen?.taints).toEqual([]);
    expect(seen?.conditions).toEqual([{ type: "Ready", status: "False", message: "the container runtime is down" }]);
  });

  it("with an API out of reach is what was recorded, Ready Unknown, and one warning", async () => {
    await api.stop();
    const context = new RecordingContext<NodeActual>();
    const seen = await look(context);
    expect(seen).toEqual({
      ...recordedNode(),
      conditions: [{ type: "Ready", status: "Unknown", message: "the Kubernetes API does not tell" }],
    });
    expect(context.warned).toHaveLength(1);
  });

  it.each([401, 403, 500, 503])("with an API that answers %i is not gone either", async (code) => {
    api.failWith = code;
    const context = new RecordingContext<NodeActual>();
    expect((await look(context))?.uid).toBe("uid-demo-workers-1");
    expect(context.warned).toHaveLength(1);
  });

  it("equals what apply recorded when nothing has changed", async () => {
    api.addNode(wanted.machine);
    const recorded = await node.apply(wanted, { id: wanted.machine, actual: recordedNode() }, new RecordingContext());
    expect(await node.actual(recorded, new RecordingContext())).toEqual(recorded.actual);
  });
});

describe("a node's delete", () => {
  const remove = () => node.delete({ id: wanted.machine, actual: recordedNode() }, new RecordingContext());

  it("drains, then removes the Node object; already gone is success", async () => {
    api.addNode(wanted.machine);
    api.pods = [{ metadata: { name: "web", namespace: "default" }, spec: { nodeName: wanted.machine }, status: {} }];
    await remove();
    expect(api.pods).toEqual([]);
    expect(api.nodes.size).toBe(0);
    await remove();
  });

  it("waits no longer for pods than its pool says", async () => {
    api.addNode(wanted.machine);
    api.pods = [{ metadata: { name: "web", namespace: "default" }, spec: { nodeName: wanted.machine }, status: {} }];
    api.onEviction = () => ({ status: 201, body: {} });
    const recorded = { id: wanted.machine, actual: recordedNode({ drainSeconds: 1 }) };
    await expect(node.delete(recorded, new RecordingContext())).rejects.toThrow(/waited 1 s for the pods of node/);
    expect(api.nodes.get(wanted.machine).spec.unschedulable).toBeUndefined();
  });

  it("drains nothing when the whole cluster goes, even where the API is out of reach by then", async () => {
    api.addNode(wanted.machine);
    api.pods = [{ metadata: { name: "web", namespace: "default" }, spec: { nodeName: wanted.machine }, status: {} }];
    const settled = { cluster: "demo", kubeconfig: wanted.kubeconfig, kubernetesVersion: "1.37.2", conditions: [] };
    await readiness.delete({ id: "demo", actual: settled }, new RecordingContext());
    await remove();
    expect(api.pods).toHaveLength(1);
    await api.stop();
    await remove();
  });

  it("drains when only a part of the cluster goes, although its readiness goes with that", async () => {
    api.addNode(wanted.machine);
    api.pods = [{ metadata: { name: "web", namespace: "default" }, spec: { nodeName: wanted.machine }, status: {} }];
    const settled = { cluster: "demo", kubeconfig: wanted.kubeconfig, kubernetesVersion: "1.37.2", conditions: [] };
    await readiness.delete({ id: "demo", actual: settled }, Object.assign(new RecordingContext(), { isPartial: true }));
    await remove();
    expect(api.pods).toEqual([]);
    expect(api.nodes.size).toBe(0);
  });

  it("is done when another cluster answers there, since the one that it was in is gone", async () => {
    api.addNode(wanted.machine);
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const [anotherCa = ""] = rootCertificates;
    const former = wanted.kubeconfig.replace(base64(certificate), base64(anotherCa));
    expect(former).not.toBe(wanted.kubeconfig);
    const context = new RecordingContext();
    await node.delete({ id: wanted.machine, actual: recordedNode({ kubeconfig: former }) }, context);
    expect(api.nodes.size).toBe(1);
    expect(context.warned.join()).toContain("was a member of a cluster that is gone");
  });

  it("refuses to lose pods silently when the API refuses", async () => {
    api.failWith = 403;
    await expect(remove()).rejects.toThrow(/the API answered 403/);
  });
});

describe("readiness", () => {
  const inputs = () => ({ cluster: "demo", kubeconfig: api.kubeconfig, kubernetesVersion: "1.37.2" });
  const settled = [{ type: "Settled", status: "True", message: "" }] as const;

  it("waits until every node is Ready at the version, and takes the mark of removal away", async () => {
    api.addNode("demo-1", { ready: "False", message: "starting" });
    api.configMaps.set("kubicorn-removal", {});
    setTimeout(() => api.addNode("demo-1"), 300);
    const context = new RecordingContext<never>();
    const { actual } = await readiness.apply(inputs(), undefined, context as never);
    expect(actual).toEqual({ ...inputs(), conditions: settled });
    expect(context.progressed.join()).toContain("node demo-1: starting");
    expect(api.configMaps.size).toBe(0);
  });

  it("is looked at: a node that is not Ready shows, and an unreachable API warns", async () => {
    const recorded = { id: "demo", actual: { ...inputs(), conditions: [...settled] } };
    api.addNode("demo-1", { ready: "False", message: "down" });
    const seen = await readiness.actual(recorded, new RecordingContext());
    expect(seen?.conditions).toEqual([{ type: "Settled", status: "False", message: "node demo-1: down" }]);
    expect(readiness.plan(seen as typeof recorded.actual, inputs())).toEqual([
      { name: "awaitReadiness", property: "cluster", action: "update" },
    ]);
    await api.stop();
    const context = new RecordingContext<never>();
    expect((await readiness.actual(recorded, context))?.conditions[0]?.status).toBe("Unknown");
    expect(context.warned).toHaveLength(1);
  });

  it("plans nothing when nothing has changed", () => {
    expect(readiness.plan({ ...inputs(), conditions: [...settled] }, inputs())).toEqual([]);
  });

  it("goes even when the API is out of reach, with a warning", async () => {
    api.failWith = 403;
    const context = new RecordingContext<never>();
    await readiness.delete({ id: "demo", actual: { ...inputs(), conditions: [...settled] } }, context);
    expect(context.warned[0]).toContain("could not be told of its removal, which goes on");
  });
});
