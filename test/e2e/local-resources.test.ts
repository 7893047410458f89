/**
 * The local Resources against the real container engine: what they make, adopt, leave alone and remove.
 */

import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeKeyPair } from "../../bootstrap/keys";
import { runOnMachine, type SshAccess } from "../../bootstrap/ssh";
import type { Recorded } from "../../cloud/resource";
import { image } from "../../providers/local/image";
import { type MachineActual, type MachineExpected, machine } from "../../providers/local/machine";
import { type NetworkActual, network } from "../../providers/local/network";
import { RecordingContext } from "../doubles/context";

interface Cluster {
  readonly name: string;
  readonly identity: string;
  network: Recorded<NetworkActual>;
}

/** Names that no other test and no cluster of a person has. */
const prefix = `e2e-${process.pid}`;
/** As a cluster's own key would give it: six hexadecimal digits that no other run has. */
const identityOf = (letter: string) => `${letter}${process.pid.toString(16).padStart(5, "0").slice(-5)}`;
const machines: Recorded<MachineActual>[] = [];
let engine: "podman" | "docker";
let reference: string;
let access: Omit<SshAccess, "port">;
let userKeys: { publicKey: string; privateKey: string };
let hostKeys: { publicKey: string; privateKey: string };
let cluster: Cluster;

beforeAll(async () => {
  const made = await image.apply({ kubernetesVersion: "1.37.2" }, undefined, new RecordingContext());
  ({ engine, reference } = made.actual);
  [userKeys, hostKeys] = await Promise.all([makeKeyPair("e2e"), makeKeyPair("e2e host")]);
  const hostKey = hostKeys.publicKey;
  access = { host: "127.0.0.1", user: "kubicorn", privateKey: userKeys.privateKey, hostKey };
  cluster = await makeCluster("a", identityOf("a"));
});

afterAll(async () => {
  await Promise.all(machines.map((made) => machine.delete(made, new RecordingContext())));
  await network.delete(cluster.network, new RecordingContext());
  expect(await ours()).toEqual([]);
});

describe("a network", () => {
  it("is adopted by a run that did not record it", async () => {
    const again = await network.apply(networkOf(cluster), undefined, new RecordingContext());
    expect(again).toEqual(cluster.network);
  });

  it("gets a range that no other network has", async () => {
    const other = await makeCluster("b", identityOf("b"));
    expect(other.network.actual.subnet).not.toBe(cluster.network.actual.subnet);
    await network.delete(other.network, new RecordingContext());
    expect(await network.actual(other.network, new RecordingContext())).toBeUndefined();
    await network.delete(other.network, new RecordingContext());
  });

  it("takes machines with it that no state knows", async () => {
    const other = await makeCluster("c", identityOf("e"));
    const { name, subnet } = other.network.actual;
    const its = { cluster: other.name, identity: other.identity, network: name, range: subnet };
    const left = await machine.apply({ ...machineOf("left"), ...its }, undefined, new RecordingContext());
    await network.delete(other.network, new RecordingContext());
    expect(await machine.actual(left, new RecordingContext())).toBeUndefined();
    expect(await network.actual(other.network, new RecordingContext())).toBeUndefined();
  });

  it("of another stack is not taken", async () => {
    const stranger = { ...networkOf(cluster), identity: identityOf("c") };
    const made = await network.apply(stranger, undefined, new RecordingContext());
    expect(made.actual.name).not.toBe(cluster.network.actual.name);
    await expect(
      network.delete(
        { id: cluster.network.id, actual: { ...cluster.network.actual, identity: identityOf("c") } },
        new RecordingContext(),
      ),
    ).resolves.toBeUndefined();
    expect(await network.actual(cluster.network, new RecordingContext())).toBeDefined();
    await network.delete(made, new RecordingContext());
  });
});

describe("a machine", () => {
  it("boots from its user data, with its own name, key and address, and knows itself again", async () => {
    const made = await makeMachine("one");
    const found = await onMachine(made, "hostname; cat /etc/e2e; ip -4 -o address show eth0; cat /etc/machine-id");
    expect(found).toContain(`${made.actual.name}\nsaid by user data\n`);
    expect(found).toContain(` ${made.actual.address}/`);
    expect(await machine.actual(made, new RecordingContext())).toEqual(made.actual);
    expect(machine.plan(made.actual, made.actual)).toEqual([]);
    const again = await machine.apply(machineOf("one"), undefined, new RecordingContext());
    expect(again).toEqual(made);
  });

  it("that was stopped is started with the same address and port", async () => {
    const made = await makeMachine("two");
    await onMachine(made, "true");
    await execa(engine, ["stop", "--time", "1", made.id]);
    const stopped = await machine.actual(made, new RecordingContext());
    expect(stopped?.conditions).toMatchObject([{ type: "Running", status: "False" }]);
    const recorded = { id: made.id, actual: stopped as MachineActual };
    expect(machine.plan(recorded.actual, machineOf("two"))).toMatchObject([{ name: "startMachine", action: "update" }]);
    const started = await machine.apply(machineOf("two"), recorded, new RecordingContext());
    expect(started).toEqual(made);
    expect(await onMachine(started, "cat /etc/e2e")).toBe("said by user data\n");
  });

  it("that was half made is finished", async () => {
    const made = await makeMachine("three");
    const { stdout } = await execa(engine, ["inspect", "--format", "{{json .Config.Labels}}", made.id]);
    const labels = Object.entries(JSON.parse(stdout) as Record<string, string>);
    await machine.delete(made, new RecordingContext());
    // As a run leaves it that was killed between making and starting it.
    await execa(engine, [
      ...["create", "--name", made.actual.containerName, "--network", made.actual.network],
      ...labels.flatMap(([name, value]) => ["--label", `${name}=${value}`]),
      reference,
    ]);
    const finished = await makeMachine("three");
    expect(await onMachine(finished, "cat /etc/e2e")).toBe("said by user data\n");
  });

  it("that was removed is gone, and is deleted twice without complaint, with the volume that it left", async () => {
    const made = await makeMachine("four");
    await execa(engine, ["rm", "--force", made.id]);
    expect(await volumesOf(made)).toHaveLength(1);
    expect(await machine.actual(made, new RecordingContext())).toBeUndefined();
    await machine.delete(made, new RecordingContext());
    await machine.delete(made, new RecordingContext());
    expect(await volumesOf(made)).toEqual([]);
  });

  it("that was removed and is made again has a new volume, and the old one is gone", async () => {
    const made = await makeMachine("eleven");
    const [former] = await volumesOf(made);
    await execa(engine, ["rm", "--force", made.id]);
    const again = await makeMachine("eleven");
    const now = await volumesOf(again);
    expect(now).toHaveLength(1);
    expect(now).not.toContain(former);
  });

  it("whose SSH server was stopped is seen and mended, with the same address and port", async () => {
    const made = await makeMachine("twelve");
    await onMachine(made, "sudo systemctl stop ssh.service ssh.socket || sudo systemctl stop ssh.service");
    const seen = await machine.actual(made, new RecordingContext());
    expect(seen?.conditions).toMatchObject([
      { type: "Running", status: "True" },
      { type: "SSH", status: "False" },
    ]);
    const recorded = { id: made.id, actual: seen as MachineActual };
    expect(machine.plan(recorded.actual, machineOf("twelve"))).toMatchObject([{ name: "restartMachine" }]);
    expect(await machine.apply(machineOf("twelve"), recorded, new RecordingContext())).toEqual(made);
    expect(await onMachine(made, "cat /etc/e2e")).toBe("said by user data\n");
  });

  it("of another stack with the same name is left alone", async () => {
    const made = await makeMachine("five");
    const { name } = made.actual;
    const stranger = { ...machineOf("five"), identity: identityOf("d") };
    const { containerName } = made.actual;
    await machine.delete({ id: "0".repeat(64), actual: { ...made.actual, ...stranger } }, new RecordingContext());
    expect(await machine.actual(made, new RecordingContext())).toBeDefined();
    // Somebody else's container under the name that ours would have.
    const taken = `${name}x-${cluster.identity}`;
    await execa(engine, ["create", "--name", taken, "--entrypoint", "/bin/true", reference]);
    try {
      const clash = machine.apply({ ...machineOf("five"), name: `${name}x` }, undefined, new RecordingContext());
      await expect(clash).rejects.toThrow(/belongs to somebody else/);
      expect(containerName).not.toBe(taken);
    } finally {
      await execa(engine, ["rm", "--force", "--volumes", taken]);
    }
  });

  it("finds another address and port when its own are taken meanwhile", async () => {
    // A container without our labels has the address that is next, and a program the port.
    const first = await makeMachine("six");
    const next = first.actual.address.replace(/\d+$/, (last) => String(Number(last) + 1));
    const squatter = `${prefix}-squatter`;
    await execa(engine, [
      ...["run", "--detach", "--name", squatter, "--network", first.actual.network, "--ip", next],
      ...[
        "--ulimit",
        "nofile=1024:1024",
        "--ulimit",
        "nproc=1024:1024",
        "--entrypoint",
        "/bin/sleep",
        reference,
        "600",
      ],
    ]);
    const server = createServer();
    try {
      const second = await makeMachine("seven");
      expect(second.actual.address).not.toBe(next);
      expect(await onMachine(second, "cat /etc/e2e")).toBe("said by user data\n");
      await machine.delete(second, new RecordingContext());
      await new Promise<void>((resolve) => server.listen(second.actual.sshPort, "127.0.0.1", resolve));
      const third = await makeMachine("seven");
      expect(third.actual.sshPort).not.toBe(second.actual.sshPort);
    } finally {
      server.close();
      await execa(engine, ["rm", "--force", "--volumes", "--time", "0", squatter]);
    }
  });

  it("whose making the engine does not survive, ten times over, is made in the end and leaves nothing", async () => {
    const other = await makeCluster("d", identityOf("f"));
    const { name, subnet } = other.network.actual;
    const its = { cluster: other.name, identity: other.identity, network: name, range: subnet };
    const wanted = { ...machineOf("mortal"), ...its };
    for (let time = 0; time < 10; time++) {
      const made = machine.apply(wanted, undefined, new RecordingContext()).catch(() => undefined);
      await new Promise((next) => setTimeout(next, 80 + 90 * time));
      killEngineCalls();
      await made;
    }
    const made = await machine.apply(wanted, undefined, new RecordingContext());
    expect(await onMachine(made, "cat /etc/e2e")).toBe("said by user data\n");
    expect(await volumesOf(made)).toHaveLength(1);
    await machine.delete(made, new RecordingContext());
    await network.delete(other.network, new RecordingContext());
    const all = await execa(engine, ["ps", "--all", ...(engine === "podman" ? ["--external"] : [])]);
    expect(all.stdout).not.toContain(other.identity);
  });

  it("is one of several that are made side by side", async () => {
    const names = ["eight", "nine", "ten"];
    const start = performance.now();
    const made = await Promise.all(names.map((name) => makeMachine(name)));
    await Promise.all(made.map((each) => onMachine(each, "true")));
    console.log(`three machines side by side answer SSH after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    expect(new Set(made.map(({ actual }) => actual.address)).size).toBe(3);
    expect(new Set(made.map(({ actual }) => actual.sshPort)).size).toBe(3);
  });
});

async function makeCluster(name: string, identity: string): Promise<Cluster> {
  const bare = { name: `${prefix}-${name}`, identity };
  const made = await network.apply(networkOf(bare), undefined, new RecordingContext());
  return { ...bare, network: made };
}

function networkOf({ name, identity }: Pick<Cluster, "name" | "identity">) {
  return { cluster: name, owner: "e2e/local", identity, avoid: [], engine };
}

function machineOf(name: string): MachineExpected {
  return {
    name: `${cluster.name}-${name}`,
    cluster: cluster.name,
    owner: "e2e/local",
    identity: cluster.identity,
    role: "worker",
    engine,
    image: reference,
    network: cluster.network.actual.name,
    range: cluster.network.actual.subnet,
    userData: userData(),
    publishApi: false,
  };
}

async function makeMachine(name: string): Promise<Recorded<MachineActual>> {
  const made = await machine.apply(machineOf(name), undefined, new RecordingContext());
  machines.push(made);
  return made;
}

function onMachine({ actual }: Recorded<MachineActual>, command: string): Promise<string> {
  const remote = { operation: "looking", machine: actual.name, command, seconds: 60 };
  return runOnMachine({ ...access, port: actual.sshPort }, remote, new RecordingContext());
}

function userData(): string {
  return `#cloud-config\n${JSON.stringify({
    users: [
      {
        name: "kubicorn",
        sudo: "ALL=(ALL) NOPASSWD:ALL",
        shell: "/bin/bash",
        ssh_authorized_keys: [userKeys.publicKey],
      },
    ],
    ssh_keys: { ed25519_private: hostKeys.privateKey, ed25519_public: hostKeys.publicKey },
    write_files: [{ path: "/etc/e2e", content: "said by user data\n", permissions: "0644" }],
  })}`;
}

/** kill -9 of every engine command that this process is waiting for. */
function killEngineCalls(): void {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
  for (const child of children) {
    const [program = ""] = readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0");
    if (program.endsWith(engine)) {
      process.kill(Number(child), "SIGKILL");
    }
  }
}

async function volumesOf({ actual }: Recorded<MachineActual>): Promise<string[]> {
  const filter = `label=kubicorn.io/volume-of=${actual.containerName}`;
  const { stdout } = await execa(engine, ["volume", "ls", "--quiet", "--filter", filter]);
  return stdout.split("\n").filter((name) => name !== "");
}

/** Whatever the engine still has of this test. */
async function ours(): Promise<string[]> {
  const lists = [
    ["ps", "--all", "--filter", `name=${prefix}`, "--format", "{{.Names}}"],
    ["network", "ls", "--filter", `name=${prefix}`, "--format", "{{.Name}}"],
    ["volume", "ls", "--filter", `name=${prefix}`, "--format", "{{.Name}}"],
  ];
  const found = await Promise.all(lists.map(async (list) => (await execa(engine, list)).stdout));
  return found.filter((text) => text !== "");
}
