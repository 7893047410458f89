/**
 * Replacing machines a few at a time: their names, the order of their turns, their keys and their past, what is planned and
 * said, and the retiring of the nodes that they take the place of.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HostKeyActual, hostKey } from "../../bootstrap/host-key";
import { type NodeActual, type NodeExpected, node } from "../../bootstrap/node";
import { ReplacementQueue } from "../../bootstrap/parts";
import { type Former, succeeded } from "../../bootstrap/succession";
import type { Model } from "../../cloud/model";
import { renderCluster } from "../../cloud/provider";
import { rollout } from "../../cloud/rollout";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { localProvider } from "../../providers/local";
import { type MachineActual, type MachineExpected, machine } from "../../providers/local/machine";
import { resizeArguments } from "../../providers/local/machine-size";
import { poolImage } from "../../providers/local/pool-image";
import { RecordingContext } from "../doubles/context";
import { EngineProgram } from "../doubles/engine-program";
import { KubernetesApi, status } from "../doubles/kubernetes-api";
import { SshMachine } from "../doubles/ssh-server";

const environment = { project: "project", stack: "stack" };
const namesOf = (pool: object, name = "dev") =>
  renderCluster(parseClusterSpec({ name, pools: [{ name: "workers", ...pool }] }), environment).pools[0]?.machines.map(
    (one) => one.name,
  );

describe("a machine's name", () => {
  it("is plain where its pool asks for nothing that a machine is replaced for", () => {
    const labels = { disk: "fast" };
    expect(namesOf({ count: 2, labels, surge: 5, drainSeconds: 60, kubelet: { maxPods: 50 } })).toEqual([
      "dev-workers-1",
      "dev-workers-2",
    ]);
  });

  it("is another one for each size and image, and the same for the same", () => {
    const asked = [
      { cpus: 2 },
      { cpus: 3 },
      { memoryGiB: 2 },
      { memoryGiB: 2, cpus: 2 },
      { image: "a" },
      { image: "b" },
    ];
    const names = asked.map((size) => namesOf(size)?.[0]);
    expect(new Set(names).size).toBe(asked.length);
    expect(names.every((name) => /^dev-workers-1-[0-9a-f]{6}$/.test(name ?? ""))).toBe(true);
    expect(namesOf({ cpus: 2, memoryGiB: 2 })?.[0]).toBe(names[3]);
  });

  it("stays within its limit, and two sizes of a long one still differ", () => {
    const long = { name: "p".repeat(30), count: 250 };
    const last = (size: object) => namesOf({ ...long, ...size }, "c".repeat(30))?.at(-1) ?? "";
    expect(last({ cpus: 2 }).length).toBeLessThanOrEqual(63);
    expect(last({ cpus: 2 })).not.toBe(last({ cpus: 4 }));
  });

  it("of a control plane is the same for every size", () => {
    const of = (controlPlane: object) =>
      renderCluster(parseClusterSpec({ name: "dev", controlPlane }), environment).controlPlane.machines[0]?.name;
    expect(of({ memoryGiB: 4 })).toBe(of({}));
  });
});

describe("host keys", () => {
  const model = (pools: object[]): Model =>
    localProvider.model(localProvider.render(parseClusterSpec({ name: "dev", pools }), environment));
  const afterOf = (pools: object[]) => {
    const parts = model(pools).resources();
    const nameOf = (index: number) => parts.get(index)?.name.replace("-host-key", "");
    return Object.fromEntries(
      [...parts.values()]
        .filter(({ name }) => name.endsWith("-host-key"))
        .map(({ name, after }) => [name.replace("-host-key", ""), after?.map(nameOf)]),
    );
  };

  it("of which more are replaced than go at a time are in one queue, so that one at most waits for its turn", () => {
    expect(
      afterOf([
        { name: "a", count: 4, surge: 2 },
        { name: "b", count: 3, surge: 1, image: "own" },
      ]),
    ).toEqual({
      "control-plane-1": ["ssh-key"],
      "a-1": ["ssh-key"],
      "a-2": ["ssh-key"],
      "a-3": ["ssh-key", "a-1", "a-2"],
      "a-4": ["ssh-key", "a-3"],
      "b-1": ["ssh-key", "b-image"],
      "b-2": ["ssh-key", "b-image", "a-4", "b-1"],
      "b-3": ["ssh-key", "b-image", "b-2"],
    });
  });

  it("queue up over all pools", () => {
    const queue = new ReplacementQueue();
    const pool = { name: "p", labels: {}, taints: [], kubelet: {}, drainSeconds: 1, surge: 1, machines: [] };
    const afters: (readonly number[])[] = [];
    const add = (after: readonly number[]) => afters.push(after);
    for (const [name, position] of [
      ["p", 0],
      ["p", 1],
      ["p", 2],
      ["q", 0],
      ["q", 1],
    ] as const) {
      queue.join({ ...pool, name }, position, add);
    }
    expect(afters).toEqual([[], [1], [2], [], [3, 4]]);
  });

  const make = (name: string) => hostKey.apply({ machine: name }, undefined, new RecordingContext<HostKeyActual>());
  const follow = async (before: Awaited<ReturnType<typeof make>>, name: string) =>
    hostKey.apply({ machine: name }, before, new RecordingContext<HostKeyActual>());

  it("are made anew for a machine of another name, in an update that keeps the identity; the way back finds the old one", async () => {
    const first = await make("a");
    const second = await follow(first, "b");
    expect(second.id).toBe(first.id);
    expect(second.actual.publicKey).not.toBe(first.actual.publicKey);
    expect(second.actual.former).toEqual({ round: 1, machines: ["a"] });
    const back = await follow(second, "a");
    expect(back.actual.privateKey).toBe(first.actual.privateKey);
    expect(back.actual.former).toEqual({ round: 2, machines: ["b"] });
    expect(Object.keys(back.actual.formerKeys ?? {})).toEqual(["b"]);
    expect(await follow(back, "a")).toEqual(back);
  });

  it("remember the last few machines and no more", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    let past: Former | undefined;
    for (const [position, next] of names.slice(1).entries()) {
      past = succeeded(past, names[position] ?? "", next);
    }
    expect(past).toEqual({ round: 5, machines: ["e", "d", "c", "b"] });
  });

  it("wait for the turn that a node of an earlier slot ends, and make nothing before", async () => {
    const turn = (slot: string) => ({ group: "waiting", slot, atATime: 1 });
    const [one, two] = [await make("one"), await make("two")];
    await hostKey.apply({ machine: "one-b", turn: turn("1") }, one, new RecordingContext<HostKeyActual>());
    const context = new RecordingContext<HostKeyActual>();
    const waiting = rollout.during(() => hostKey.apply({ machine: "two-b", turn: turn("2") }, two, context));
    await new Promise((next) => setTimeout(next, 150));
    expect(context.progressed).toEqual(["waiting for the turn of 2: 1 first"]);
    rollout.end(turn("1"));
    expect((await waiting).actual.machine).toBe("two-b");
  });
});

describe("a machine's plan", () => {
  const worker: MachineExpected = {
    name: "dev-workers-1",
    cluster: "dev",
    owner: "project/stack",
    identity: "abcdef",
    role: "worker",
    engine: "podman",
    image: "localhost/kubicorn-machine:1",
    network: "dev-abcdef",
    range: "10.99.7.0/24",
    userData: "",
    publishApi: false,
  };
  const recorded = (of: MachineExpected): MachineActual => ({
    ...of,
    containerName: "c",
    address: "10.99.7.10",
    sshHost: "127.0.0.1",
    sshPort: 1,
    apiPort: 0,
    conditions: [{ type: "Running", status: "True", message: "" }],
  });
  const first = { ...worker, name: "dev-control-plane-1", role: "control-plane" as const };

  it.each<[string, MachineExpected, Partial<MachineExpected>, string[], RegExp | undefined]>([
    ["nothing", worker, {}, [], undefined],
    ["a newer standard image", worker, { image: "localhost/kubicorn-machine:2" }, [], undefined],
    ["other user data", worker, { userData: "other" }, [], undefined],
    [
      "another size",
      worker,
      { name: "dev-workers-1-0a1b2c", cpus: 2 },
      ["replace replaceName", "replace replaceSize"],
      /^dev-workers-1 is replaced by dev-workers-1-0a1b2c \(cpus: no limit -> 2\)\. The new machine is a Ready node before/,
    ],
    [
      "another image of its pool",
      worker,
      { name: "dev-workers-1-0a1b2c" },
      ["replace replaceName"],
      /\(its pool has another image\)/,
    ],
    [
      "another network",
      worker,
      { network: "other" },
      ["replace replaceNetwork"],
      /^dev-workers-1 is made anew under its name, since the cluster's network is another one/,
    ],
    ["a past that is not known yet", worker, { former: "unknown" as never }, [], undefined],
    [
      "its own name again",
      worker,
      { former: { round: 2, machines: ["dev-workers-1-0a1b2c"] } },
      ["update removeHalfMade"],
      undefined,
    ],
    [
      "a control plane's size",
      first,
      { cpus: 2, memoryGiB: 4 },
      ["update updateSize"],
      /^dev-control-plane-1 gets another size while it runs: cpus: no limit -> 2, memoryGiB: no limit -> 4\.$/,
    ],
    [
      "a control plane's network",
      first,
      { network: "other" },
      ["replace replaceNetwork"],
      /^dev-control-plane-1 is made anew.*everything that is stored in the cluster.*is gone/,
    ],
  ])("for %s", (_title, of, changes, facts, note) => {
    const plan = machine.plan(recorded(of), { ...of, ...changes });
    expect(plan.map(({ action, name }) => `${action} ${name}`)).toEqual(facts);
    const notes = plan.flatMap((fact) => fact.note ?? []);
    expect(notes).toEqual(note ? [expect.stringMatching(note)] : []);
  });

  it("keeps the old machine until the new one is there, where their names differ", () => {
    const oldFirst = machine.deleteBeforeReplace as (actual: MachineActual, wanted: MachineExpected) => boolean;
    expect(oldFirst(recorded(worker), { ...worker, network: "other" })).toBe(true);
    expect(oldFirst(recorded(worker), { ...worker, name: "dev-workers-1-0a1b2c" })).toBe(false);
  });

  it("changes a size with the engine's own words, and has the whole computer where no limit is wanted any more", () => {
    expect(resizeArguments("podman", {}, { cpus: 1.5, memoryGiB: 2 })).toEqual(["--cpus", "1.5", "--memory", "2048m"]);
    expect(resizeArguments("docker", { memoryGiB: 1 }, { memoryGiB: 2 })).toEqual([
      "--memory",
      "2048m",
      "--memory-swap",
      "4096m",
    ]);
    expect(resizeArguments("podman", { cpus: 1 }, {})).toEqual(["--cpus", expect.stringMatching(/^\d+$/)]);
    expect(resizeArguments("podman", {}, {})).toEqual([]);
  });
});

describe("a pool's own image", () => {
  const wanted = { pool: "workers", reference: "localhost/own:1", engine: "podman" as const };
  const absent = {
    to: "image inspect",
    stderr: "Error: inspecting object: localhost/own:1: image not known",
    exitCode: 125,
  };
  let engine: EngineProgram;
  afterEach(() => engine.remove());

  it("that is not there is told in the check and in the making, with what to do", async () => {
    engine = new EngineProgram("podman", [absent]);
    expect(await poolImage.foresee?.(wanted, undefined)).toEqual([
      {
        path: "image of pool workers",
        value: "localhost/own:1",
        allowed: expect.stringContaining(
          "podman has no image of that name; build it, or fetch it (podman pull localhost/own:1)",
        ),
      },
    ]);
    await expect(poolImage.apply(wanted, undefined, new RecordingContext())).rejects.toThrow(
      /^The image of pool workers \(pools\[\]\.image\) is "localhost\/own:1", and podman has no image of that name/,
    );
  });

  it("is kept by the engine's own id, and not looked for again while the setting is the same", async () => {
    engine = new EngineProgram("podman", [{ to: "image inspect", stdout: "0a1b2c\n" }]);
    const made = await poolImage.apply(wanted, undefined, new RecordingContext());
    expect(made).toEqual({ id: "workers", actual: { ...wanted, image: "0a1b2c" } });
    expect(poolImage.plan(made.actual, wanted)).toEqual([]);
    expect(await poolImage.foresee?.(wanted, wanted)).toEqual([]);
    expect(engine.calls).toHaveLength(1);
    const other = { ...wanted, reference: "localhost/own:2" };
    expect((await poolImage.apply(other, made, new RecordingContext())).id).toBe("workers");
  });
});

describe("a node that takes the place of another", () => {
  let api: KubernetesApi;
  let ssh: SshMachine;
  let wanted: NodeExpected;

  beforeEach(async () => {
    [api, ssh] = [await new KubernetesApi().start(), await new SshMachine().start()];
    wanted = {
      machine: "dev-workers-1-0a1b2c",
      joins: true,
      access: ssh.access,
      apiEndpoint: "api.dev.kubicorn.internal:6443",
      endpointAddress: "10.99.0.10",
      caCertificate: "CA",
      kubeconfig: api.kubeconfig,
      kubernetesVersion: "1.37.2",
      labels: {},
      taints: [],
      kubelet: {},
      drainSeconds: 5,
      pool: "workers",
      former: { round: 1, machines: ["dev-workers-1"] },
      turn: { group: "dev/retiring", slot: "workers-1", atATime: 1 },
    };
    api.addNode("dev-workers-1");
    api.addNode("dev-workers-11");
    ssh.answer = () => {
      api.addNode(wanted.machine);
      return {};
    };
  });

  afterEach(async () => {
    await Promise.all([api.stop(), ssh.stop()]);
  });

  const pod = { metadata: { name: "web", namespace: "default", uid: "1" }, spec: { nodeName: "dev-workers-1" } };

  it("drains and removes it once it is Ready itself, and nothing else, and then ends its turn", async () => {
    await rollout.begin(wanted.turn as never, new RecordingContext());
    api.pods = [pod];
    await node.apply(wanted, undefined, new RecordingContext<NodeActual>());
    expect([...api.nodes.keys()].sort()).toEqual(["dev-workers-1-0a1b2c", "dev-workers-11"]);
    expect(api.pods).toEqual([]);
    const next = { ...wanted.turn, slot: "workers-2" };
    await rollout.begin(next as never, new RecordingContext());
    rollout.end(next as never);
  });

  it("fails with the drain's own words where that does not empty; the old one stays in service, the next run goes on", async () => {
    api.pods = [pod];
    api.onEviction = () =>
      status(429, "it would violate the budget", ["The disruption budget web needs 1 healthy pods"]);
    const context = new RecordingContext<NodeActual>();
    const failing = node.apply({ ...wanted, drainSeconds: 1 }, undefined, context);
    await expect(failing).rejects.toThrow(
      /Node dev-workers-1 could not be drained and is in service again.*budget web/,
    );
    expect(api.nodes.get("dev-workers-1").spec.unschedulable).toBeFalsy();
    expect(context.recorded.map(({ id }) => id)).toEqual([wanted.machine]);
    api.onEviction = () => undefined;
    await node.apply(wanted, context.recorded.at(-1), new RecordingContext<NodeActual>());
    expect([...api.nodes.keys()].sort()).toEqual(["dev-workers-1-0a1b2c", "dev-workers-11"]);
  });

  it("is put back into service where a drain that was killed had cordoned it, and where a person did, it stays so", async () => {
    ssh.answer = ({ command }) => ({ stdout: command.includes("machine-id") ? `machine-${wanted.machine}` : "" });
    const cordoned = () => api.nodes.get(wanted.machine).spec.unschedulable;
    const killed = () => {
      api.addNode(wanted.machine, { unschedulable: true });
      api.nodes.get(wanted.machine).metadata.annotations = { "kubicorn.io/drain": "begun" };
    };
    killed();
    const { id, actual } = await node.apply(wanted, undefined, new RecordingContext<NodeActual>());
    expect(cordoned()).toBeFalsy();
    expect(actual.conditions).toHaveLength(1);
    api.addNode(wanted.machine, { unschedulable: true });
    await node.apply({ ...wanted, labels: { disk: "fast" } }, { id, actual }, new RecordingContext<NodeActual>());
    expect(cordoned()).toBe(true);
    killed();
    await node.apply(wanted, { id, actual }, new RecordingContext<NodeActual>());
    expect(cordoned()).toBeFalsy();
  });

  it("of the same name goes before its replacement, of another one after it", () => {
    const oldFirst = node.deleteBeforeReplace as (actual: NodeActual, wanted: NodeExpected) => boolean;
    const actual: NodeActual = { ...wanted, uid: "1", conditions: [] };
    expect(oldFirst(actual, { ...wanted, machineId: "other" })).toBe(true);
    expect(oldFirst(actual, { ...wanted, machine: "dev-workers-1" })).toBe(false);
    expect(node.plan(actual, { ...wanted, former: { round: 3, machines: ["x"] } }).map(({ name }) => name)).toEqual([
      "retireFormer",
    ]);
    expect(node.plan(actual, { ...wanted, former: "unknown" as never })).toEqual([]);
  });
});
