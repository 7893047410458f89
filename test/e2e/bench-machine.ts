/**
 * Single machines of the real container engine, each with a fault of its own, without a stack around them:
 * what a bootstrap does on them and what is told of it.
 */
import { parse, stringify } from "yaml";
import { type JoinInformationActual, joinInformation } from "../../bootstrap/join-information";
import { type KeyPair, makeKeyPair } from "../../bootstrap/keys";
import { kubeconfig } from "../../bootstrap/kubeconfig";
import { runOnMachine, type SshAccess } from "../../bootstrap/ssh";
import { controlPlaneUserData, machineUser, workerUserData } from "../../bootstrap/user-data";
import type { Recorded } from "../../cloud/resource";
import { image } from "../../providers/local/image";
import { type MachineActual, machine } from "../../providers/local/machine";
import { type NetworkActual, network } from "../../providers/local/network";
import { RecordingContext } from "../doubles/context";

export interface BenchMachine {
  readonly recorded: Recorded<MachineActual>;
  readonly name: string;
  readonly access: SshAccess;
  /** When its making began, as performance.now() gives it. */
  readonly began: number;
}

/** Two runs side by side make machines of the same names. */
const identity = process.pid.toString(16).padStart(6, "0").slice(-6);
export const kubernetesVersion = "1.37.2";

/** A network with the machines that a test makes on it. */
export class Bench {
  readonly cluster = `bench-${process.pid}`;
  readonly endpoint = { name: `api.${this.cluster}.internal`, port: 6443 };
  private readonly machines: BenchMachine[] = [];
  private constructor(
    readonly engine: "podman" | "docker",
    private readonly reference: string,
    private readonly network: Recorded<NetworkActual>,
    private readonly userKeys: KeyPair,
  ) {}

  static async make(): Promise<Bench> {
    const { actual } = await image.apply({ kubernetesVersion }, undefined, new RecordingContext());
    const { engine, reference } = actual;
    const wanted = { cluster: `bench-${process.pid}`, owner: "e2e/bench", identity, avoid: [], engine };
    const made = await network.apply(wanted, undefined, new RecordingContext());
    return new Bench(engine, reference, made, await makeKeyPair("bench"));
  }

  /** A control-plane machine on which these commands have run as root before anything else. */
  async controlPlane(name: string, faults: readonly string[] = []): Promise<BenchMachine> {
    const [podRange, serviceRange] = ["10.244.0.0/16", "10.96.0.0/16"];
    const roles = {
      kubernetesVersion,
      podRange,
      serviceRange,
      schedulable: true,
      ownKubelet: {},
      podNetworkBackend: "host-gw",
    } as const;
    return await this.boot(name, "control-plane", faults, (access, named) =>
      controlPlaneUserData({ ...roles, ...named, access }),
    );
  }

  /** A machine that can join. */
  async worker(name: string, faults: readonly string[] = []): Promise<BenchMachine> {
    return await this.boot(name, "worker", faults, (access, named) =>
      workerUserData({ kubernetesVersion, ...named, access, labels: {}, taints: [] }),
    );
  }

  private async boot(
    name: string,
    role: "control-plane" | "worker",
    faults: readonly string[],
    userData: (
      access: { authorizedKey: string; hostKey: KeyPair },
      named: { cluster: string; machine: string; endpoint: { name: string; port: number } },
    ) => string,
  ): Promise<BenchMachine> {
    const began = performance.now();
    const hostKey = await makeKeyPair(name);
    const { cluster, endpoint } = this;
    const text = userData({ authorizedKey: this.userKeys.publicKey, hostKey }, { cluster, machine: name, endpoint });
    const wanted = {
      ...{ name, cluster, owner: "e2e/bench", identity, role, engine: this.engine, image: this.reference },
      ...{ network: this.network.actual.name, range: this.network.actual.subnet, publishApi: role === "control-plane" },
      userData: withFaults(text, faults),
    };
    const recorded = await machine.apply(wanted, undefined, new RecordingContext());
    const { sshHost: host, sshPort: port } = recorded.actual;
    const access = { host, port, user: machineUser, privateKey: this.userKeys.privateKey, hostKey: hostKey.publicKey };
    const made = { recorded, name, access, began };
    this.machines.push(made);
    return made;
  }

  async remove(): Promise<void> {
    await Promise.all(this.machines.map(({ recorded }) => machine.delete(recorded, new RecordingContext())));
    await network.delete(this.network, new RecordingContext());
  }
}

/** Runs a command as the login user, who may use sudo. */
export function onMachine({ name, access }: BenchMachine, command: string): Promise<string> {
  return runOnMachine(access, { operation: "looking", machine: name, command, seconds: 60 }, new RecordingContext());
}

/** Waits for the control plane as a run does. */
export async function joinInformationOf({ name, access }: BenchMachine): Promise<Recorded<JoinInformationActual>> {
  return await joinInformation.apply({ machine: name, access }, undefined, new RecordingContext());
}

/** The administrator's kubeconfig of a control plane, as soon as it serves. */
export async function kubeconfigOf({ cluster }: Bench, { name, access, recorded }: BenchMachine): Promise<string> {
  const wanted = { cluster, access, machine: name, server: `https://127.0.0.1:${recorded.actual.apiPort}` };
  const { actual } = await kubeconfig.apply(wanted, undefined, new RecordingContext());
  return actual.kubeconfig;
}

/** What whoever waits is told, and how many seconds after `since`. */
export async function failureOf(waiting: Promise<unknown>, since: number): Promise<{ told: string; seconds: number }> {
  const told = await waiting.then(
    (found) => `no failure, but ${JSON.stringify(found)}`,
    (error: Error) => error.message,
  );
  return { told, seconds: (performance.now() - since) / 1000 };
}

function withFaults(userData: string, faults: readonly string[]): string {
  const configuration = { ...(parse(userData) as object), bootcmd: faults.map((fault) => ["bash", "-c", fault]) };
  return `#cloud-config\n${stringify(configuration, { lineWidth: 0 })}`;
}
