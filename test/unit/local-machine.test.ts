/** Machines and networks of an engine that is late, cut, busy or somebody else's. */
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createArguments, hardwareAddress } from "../../providers/local/arguments";
import { type MachineActual, type MachineExpected, machine } from "../../providers/local/machine";
import { network } from "../../providers/local/network";
import { RecordingContext } from "../doubles/context";
import { type Answer, EngineProgram } from "../doubles/engine-program";

const wanted: MachineExpected = {
  name: "dev-workers-1",
  cluster: "dev",
  owner: "project/stack",
  identity: "abcdef",
  role: "worker",
  engine: "podman",
  image: "localhost/kubicorn-machine:1",
  network: "dev-abcdef",
  range: "10.99.7.0/24",
  userData: "#cloud-config\n{}",
  publishApi: false,
};
const containerName = "dev-workers-1-abcdef";
const labels = {
  "kubicorn.io/identity": "abcdef",
  "kubicorn.io/network": "dev-abcdef",
  "kubicorn.io/address": "10.99.7.10",
  "kubicorn.io/ssh-port": "20001",
  "kubicorn.io/api-port": "0",
};
const actual: MachineActual = {
  ...wanted,
  containerName,
  address: "10.99.7.10",
  sshHost: "127.0.0.1",
  sshPort: 20001,
  apiPort: 0,
  conditions: [{ type: "Running", status: "True", message: "" }],
};
const recorded = { id: "id-1", actual };
const listing = `name=^${containerName}$`;

let engine: EngineProgram | undefined;
let cache: string;
let context: RecordingContext<MachineActual>;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "kubicorn-machine-"));
  vi.stubEnv("KUBICORN_CACHE", cache);
  context = new RecordingContext();
});

afterEach(() => {
  engine?.remove();
  engine = undefined;
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

function answers(...given: Answer[]): EngineProgram {
  engine = new EngineProgram("podman", given);
  return engine;
}

function inspected(id: string, status: string, its: Record<string, string> = labels): string {
  const State = { Running: status === "running", Status: status };
  return JSON.stringify([{ Id: id, Name: containerName, State, Config: { Labels: its } }]);
}

/** As podman 4.3 answers for good after it was killed between removing a container's storage and its entry. */
const halfRemoved: Answer[] = [
  {
    to: "inspect",
    stderr: 'Error: getting container from store "id-1": container not known',
    exitCode: 125,
  },
  { to: "json --filter id=id-1", stdout: JSON.stringify([{ Id: "id-1", Names: [containerName], Labels: labels }]) },
  { to: listing, stdout: "id-1\n" },
];

describe("looking at a machine", () => {
  it("calls it gone when the engine's list is empty", async () => {
    answers({ to: listing });
    expect(await machine.actual(recorded, context)).toBeUndefined();
    expect(context.warned).toEqual([]);
  });

  it("calls it gone when the engine was killed while removing it, and delete takes the rest away", async () => {
    const calls = answers(...halfRemoved, { to: "rm --force" }, { to: "volume ls" });
    expect(await machine.actual(recorded, context)).toBeUndefined();
    expect(await machine.begun?.(wanted, context)).toBeUndefined();
    await machine.delete(recorded, context);
    expect(calls.calls.filter((call) => call.startsWith("rm "))).toEqual(["rm --force --volumes --time 0 id-1"]);
  });

  it("calls it gone when another container has its name", async () => {
    answers({ to: listing, stdout: "id-2\n" }, { to: "inspect", stdout: inspected("id-2", "running") });
    expect(await machine.actual(recorded, context)).toBeUndefined();
  });

  it("tells that it is stopped, and plans to start it", async () => {
    answers({ to: listing, stdout: "id-1\n" }, { to: "inspect", stdout: inspected("id-1", "exited") });
    const seen = await machine.actual(recorded, context);
    expect(seen?.conditions).toMatchObject([{ type: "Running", status: "False" }]);
    expect(machine.plan(seen as MachineActual, wanted).map(({ name }) => name)).toEqual(["startMachine"]);
  });

  it.each([
    ["does not answer", { stderr: "Cannot connect to the Docker daemon", exitCode: 1 }],
    ["answers in another language", { stderr: "Fehler: so etwas gibt es nicht", exitCode: 125 }],
    ["cuts its answer off", { stdout: '[{"Id": "id-1", "Na' }],
    ["answers in words of another version", { stdout: '[{"ID": "id-1"}]' }],
  ])("never calls it gone when the engine %s", async (_case, answer) => {
    answers({ to: listing, stdout: "id-1\n" }, { to: "inspect", ...answer });
    const seen = await machine.actual(recorded, context);
    expect(seen).toMatchObject({ ...actual, conditions: [{ type: "Running", status: "Unknown" }] });
    expect(context.warned).toHaveLength(1);
  });
});

describe("a machine that runs and whose SSH server does not answer", () => {
  const running: Answer[] = [
    { to: listing, stdout: "id-1\n" },
    { to: "inspect", stdout: inspected("id-1", "running") },
  ];

  it("is told as such, and restarted", async () => {
    const calls = answers(...running, { to: "restart" });
    const mute = createServer((socket) => socket.end());
    const port = await listening(mute);
    const seen = await machine.actual({ id: "id-1", actual: { ...actual, sshPort: port } }, context);
    await new Promise((closed) => mute.close(closed));
    expect(seen?.conditions).toMatchObject([{ status: "True" }, { type: "SSH", status: "False" }]);
    expect(context.warned).toEqual([expect.stringContaining("cannot be entered")]);
    const lost = seen as MachineActual;
    expect(machine.plan(lost, wanted)).toMatchObject([
      { name: "restartMachine", note: expect.stringContaining("pods") },
    ]);

    const back = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
    const backPort = await listening(back);
    const again = answers(
      { to: "--version", stdout: "podman version 4.3.1" },
      { to: "run --rm" },
      { to: listing, stdout: "id-1\n" },
      { to: "inspect", stdout: inspected("id-1", "running", { ...labels, "kubicorn.io/ssh-port": String(backPort) }) },
      { to: "restart" },
    );
    const mended = await machine.apply(wanted, { id: "id-1", actual: lost }, context);
    await new Promise((closed) => back.close(closed));
    expect(again.calls.filter((call) => call.startsWith("restart"))).toEqual(["restart --time 10 id-1"]);
    expect(mended.actual.conditions).toMatchObject([{ type: "Running", status: "True" }]);
    calls.remove();
  });
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

describe("making a machine", () => {
  const probe: Answer[] = [{ to: "--version", stdout: "podman version 4.3.1" }, { to: "run --rm" }];
  const none: Answer[] = [
    { to: listing },
    { to: "label=kubicorn.io/cluster" },
    { to: "volume create" },
    { to: "volume ls", stdout: "dev-workers-1-abcdef-0a0a0a\n" },
    { to: "volume rm" },
  ];

  it("records it before it starts", async () => {
    const late = { to: "start id-1", stderr: "Error: the disk is full", exitCode: 126 };
    answers(...probe, ...none, { to: "create --name", stdout: "id-1\n" }, { to: "cp -" }, late);
    await expect(machine.apply(wanted, undefined, context)).rejects.toThrow(
      /starting machine dev-workers-1.*disk is full/,
    );
    expect(context.recorded.map(({ id }) => id)).toEqual(["id-1"]);
    expect(context.recorded[0]?.actual).toMatchObject({ address: "10.99.7.10", conditions: [{ status: "False" }] });
  });

  it.each(["", "3f3f3f", "warning: something else"])(
    "finds the one that was made where the engine answers %j for its id, and makes no second one",
    async (stdout) => {
      const calls = answers(
        ...probe,
        { to: listing, times: 1 },
        { to: listing, stdout: "id-1\n" },
        ...none,
        { to: "create --name", stdout },
        { to: "inspect", stdout: inspected("id-1", "created") },
        { to: "cp -" },
        { to: "start id-1" },
      );
      expect(await machine.apply(wanted, undefined, context)).toMatchObject({ id: "id-1" });
      expect(calls.calls.filter((call) => call.includes("create --name"))).toHaveLength(1);
    },
  );

  it("is made once by an engine that takes its time for every answer", async () => {
    const late = [...probe, ...none, { to: "create --name", stdout: "id-1\n" }, { to: "cp -" }, { to: "start id-1" }];
    const calls = answers(...late.map((answer) => ({ ...answer, after: 700 })));
    expect(await machine.apply(wanted, undefined, context)).toMatchObject({ id: "id-1" });
    expect(calls.calls.filter((call) => /^(create|start)/.test(call))).toHaveLength(2);
  });

  it("takes another place when the engine refuses one", async () => {
    const refused = "requested IP address is not available in range set 10.99.7.1-10.99.7.254";
    const calls = answers(
      ...probe,
      ...none,
      { to: "create --name", stdout: "id-1\n", times: 1 },
      { to: "create --name", stdout: "id-2\n" },
      { to: "cp -" },
      { to: "start id-1", stderr: refused, exitCode: 125 },
      { to: "start id-2" },
    );
    const made = await machine.apply(wanted, undefined, context);
    const tried = calls.calls.flatMap((call) => /create .*--ip (\S+)/.exec(call)?.[1] ?? []);
    expect(new Set(tried).size).toBe(2);
    expect(made).toMatchObject({ id: "id-2", actual: { address: tried[1] } });
  });

  it("clears a name that an engine killed in the middle has kept, and goes on", async () => {
    const refused =
      'Error: creating container storage: the container name "dev-workers-1-abcdef" is already in use by 12ab';
    const calls = answers(
      ...probe,
      ...none,
      { to: "create --name", stderr: refused, exitCode: 125, times: 1 },
      { to: "create --name", stdout: "id-2\n" },
      { to: "rm --force" },
      { to: "cp -" },
      { to: "start id-2" },
    );
    expect(await machine.apply(wanted, undefined, context)).toMatchObject({ id: "id-2" });
    expect(calls.calls.filter((call) => call.startsWith("rm --force"))).toHaveLength(1);
  });

  it("takes away what is left of one that the engine was killed while removing, and goes on", async () => {
    const calls = answers(
      ...probe,
      ...halfRemoved.map((answer) => ({ ...answer, ...(answer.to === listing && { times: 3 }) })),
      ...none,
      { to: "rm --force" },
      { to: "create --name", stdout: "id-2\n" },
      { to: "cp -" },
      { to: "start id-2" },
    );
    expect(await machine.apply(wanted, undefined, context)).toMatchObject({ id: "id-2" });
    expect(calls.calls.filter((call) => call.startsWith("rm --force"))).toEqual(["rm --force --volumes --time 0 id-1"]);
  });

  it("gives it a volume of its own, new and with our labels, and removes those that earlier ones of its name have left", async () => {
    const calls = answers(
      ...probe,
      ...none,
      { to: "create --name", stdout: "id-1\n" },
      { to: "cp -" },
      { to: "start id-1" },
    );
    await machine.apply(wanted, undefined, context);
    const [made] = calls.calls.flatMap((call) => /^volume create .* (\S+)$/.exec(call)?.[1] ?? []);
    expect(made).toMatch(/^dev-workers-1-abcdef-[0-9a-f]{6}$/);
    const create = calls.calls.find((call) => / create --name|^create/.test(call));
    expect(create).toContain(`--volume ${made}:/var`);
    expect(calls.calls.find((call) => call.startsWith("volume create"))).toContain("kubicorn.io/identity=abcdef");
    expect(calls.calls.filter((call) => call.startsWith("volume rm"))).toEqual([
      "volume rm dev-workers-1-abcdef-0a0a0a",
    ]);
  });

  it("leaves a stranger's container alone and says whose it is", async () => {
    const stranger = { "kubicorn.io/identity": "123456", "kubicorn.io/owner": "other/prod" };
    const calls = answers(
      { to: listing, stdout: "id-9\n" },
      { to: "inspect", stdout: inspected("id-9", "running", stranger) },
    );
    await expect(machine.apply(wanted, undefined, context)).rejects.toThrow(
      /belongs to another cluster \(of other\/prod\)/,
    );
    expect(calls.calls.some((call) => /^(rm|start|create)/.test(call))).toBe(false);
  });

  it("puts no user data into an argument", () => {
    const place = { address: "10.99.7.10", sshPort: 20001, apiPort: 0 };
    const created = { ...wanted, ...place, containerName, recipe: "0", volume: "v" };
    const args = createArguments(created, { options: [], limits: [] }).join(" ");
    expect(args).not.toContain("cloud-config");
    expect(args).toContain("--publish 127.0.0.1:20001:22");
    expect(args).toContain(`--mac-address ${hardwareAddress("10.99.7.10")}`);
    expect(hardwareAddress("10.99.7.10")).toBe("02:6b:0a:63:07:0a");
  });
});

describe("making a network", () => {
  it("takes the next range when the engine refuses one", async () => {
    const taken = { stderr: "Error: subnet is already used on the host or by another config", exitCode: 125, times: 1 };
    const calls = answers({ to: "network ls" }, { to: "network create", ...taken }, { to: "network create" });
    const base = { cluster: "dev", owner: "project/stack", identity: "abcdef", avoid: [], engine: "podman" as const };
    const made = await network.apply(base, undefined, new RecordingContext());
    const tried = calls.calls.flatMap((call) => /--subnet (\S+)/.exec(call)?.[1] ?? []);
    expect(tried).toHaveLength(2);
    expect(tried[1]).not.toBe(tried[0]);
    expect(made.actual.subnet).toBe(tried[1]);
  });
});
