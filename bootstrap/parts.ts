/**
 * The parts of a model that are alike on every cloud: keys, join information, nodes, kubeconfig and readiness.
 * A cloud's own model puts them between its networks and machines.
 */
import {
  type ComponentReference,
  Derived,
  type PartInput,
  type PartInputs,
  Reference,
  type ResourcePart,
} from "../cloud/model";
import type { RenderedCluster, RenderedMachine, RenderedPool } from "../cloud/provider";
import { timeLimits } from "../cloud/time-limits";
import { controlPlaneTaints } from "./kubeadm-config";
import { machineUser } from "./user-data";

/** A machine that other parts refer to: the indices of its parts, and how it is reached over SSH. */
export interface MachineParts {
  readonly machine: RenderedMachine;
  readonly component: ComponentReference;
  /** The index of the machine itself. */
  readonly index: number;
  /** The index of its host key. */
  readonly hostKey: number;
  /** Where its SSH server answers from here: `{ host, port }`, as values or references. */
  readonly ssh: PartInputs;
}

/** The rows of a control plane and of a pool. */
export const controlPlaneComponent: ComponentReference = { type: "ControlPlane", name: "control-plane" };
export const poolComponent = (pool: RenderedPool): ComponentReference => ({ type: "NodePool", name: pool.name });

/** The key pair by which the cluster's machines are entered. */
export function sshKeyPart(cluster: RenderedCluster): ResourcePart {
  const { name, owner, network } = cluster;
  return {
    name: "ssh-key",
    kind: "guest:SshKey",
    // Nothing is made or changed before this part is: what cannot change in a cluster's life is refused here.
    inputs: { comment: `${owner}/${name}`, cluster: name, pods: network.pods, services: network.services },
  };
}

/**
 * A machine's own SSH host key, known before the machine exists. It is the first part of its slot, so what the slot waits
 * for stands in `after`; see {@link ReplacementQueue}.
 */
export function hostKeyPart(
  cluster: RenderedCluster,
  machine: RenderedMachine,
  component: ComponentReference,
  { pool, after }: { pool?: RenderedPool | undefined; after: readonly number[] },
): ResourcePart {
  return {
    name: `${machine.logicalName}-host-key`,
    component,
    kind: "guest:HostKey",
    inputs: { machine: machine.name, ...(pool && { turn: turnOf(cluster, pool, machine) }) },
    after,
  };
}

/** The turn in which a machine of a pool is replaced. */
function turnOf(cluster: RenderedCluster, pool: RenderedPool, { logicalName }: RenderedMachine): PartInputs {
  return { group: `${cluster.name}/${pool.name}`, slot: logicalName, atATime: pool.surge };
}

/**
 * The order in which host keys wait for their slots' turns: all but the first few of a pool one after the other, also
 * those of different pools. A key that waits for its turn holds one of Pulumi's slots, and so never more than one does.
 * New keys wait for nothing, so that this order takes no time when a cluster is made.
 */
export class ReplacementQueue {
  private last: number | undefined;
  private readonly firsts = new Map<string, number[]>();

  /**
   * Puts a host key into the queue.
   *
   * @param position its machine's place in the pool, from 0
   * @param add adds the part, given what it has to come after
   * @returns the part's index
   */
  join(pool: RenderedPool, position: number, add: (after: readonly number[]) => number): number {
    const firsts = this.firsts.get(pool.name) ?? [];
    this.firsts.set(pool.name, firsts);
    if (position < pool.surge) {
      const index = add([]);
      firsts.push(index);
      return index;
    }
    // Behind the first ones too: were it faster than one of them, that one would wait as well.
    this.last = add([...(this.last === undefined ? [] : [this.last]), ...(position === pool.surge ? firsts : [])]);
    return this.last;
  }
}

/** A machine's user data, once its keys are known. */
export function userDataOf(sshKey: number, hostKey: number, make: (access: AccessKeys) => string): Derived {
  const from = {
    authorizedKey: new Reference(sshKey, "publicKey"),
    publicKey: new Reference(hostKey, "publicKey"),
    privateKey: new Reference(hostKey, "privateKey"),
  };
  return new Derived(from, ({ authorizedKey, publicKey, privateKey }: Record<keyof typeof from, string>) =>
    make({ authorizedKey, hostKey: { publicKey, privateKey } }),
  );
}

interface AccessKeys {
  readonly authorizedKey: string;
  readonly hostKey: { readonly publicKey: string; readonly privateKey: string };
}

/** What nodes need to join, from the first control-plane machine. */
export function joinInformationPart(first: MachineParts, sshKey: number): ResourcePart {
  return {
    name: "join-information",
    component: first.component,
    kind: "guest:JoinInformation",
    inputs: { machine: first.machine.name, machineId: idOf(first), access: accessTo(first, sshKey) },
  };
}

/** The administrator's kubeconfig, downloaded from the first control-plane machine. */
export function kubeconfigPart(
  cluster: RenderedCluster,
  first: MachineParts,
  { sshKey, server }: { sshKey: number; server: PartInput },
): ResourcePart {
  return {
    name: "kubeconfig",
    kind: "guest:Kubeconfig",
    // It waits for the control plane by itself: beside the join information rather than after it.
    inputs: { cluster: cluster.name, machineId: idOf(first), access: accessTo(first, sshKey), server },
  };
}

/** A machine's membership in the cluster. */
export function nodePart(
  cluster: RenderedCluster,
  member: MachineParts,
  pool: RenderedPool | undefined,
  shared: { sshKey: number; joinInformation: number; kubeconfig: number; endpointAddress: Reference },
): ResourcePart {
  const { endpoint, kubernetesVersion } = cluster;
  return {
    name: `${member.machine.logicalName}-node`,
    component: member.component,
    kind: "guest:Node",
    inputs: {
      machine: member.machine.name,
      machineId: idOf(member),
      pool: pool?.name ?? "control-plane",
      // The first control plane is a member from its own `kubeadm init` on.
      joins: pool !== undefined,
      access: accessTo(member, shared.sshKey),
      apiEndpoint: `${endpoint.name}:${endpoint.port}`,
      endpointAddress: shared.endpointAddress,
      caCertificate: new Reference(shared.joinInformation, "caCertificate"),
      kubeconfig: new Reference(shared.kubeconfig, "kubeconfig"),
      kubernetesVersion,
      labels: pool?.labels ?? {},
      taints: (pool?.taints ?? controlPlaneTaints(cluster.controlPlane.schedulable)).map((taint) => ({ ...taint })),
      kubelet: (pool ?? cluster.controlPlane).kubelet,
      drainSeconds: pool?.drainSeconds ?? timeLimits.drain,
      ...(pool && { former: formerOf(member), turn: turnOf(cluster, pool, member.machine) }),
    },
  };
}

/** The whole cluster's readiness; nothing of it names a single node, so that one more node changes nothing here. */
export function readinessPart(cluster: RenderedCluster, kubeconfig: number, nodes: readonly number[]): ResourcePart {
  return {
    name: "readiness",
    kind: "guest:Readiness",
    inputs: {
      cluster: cluster.name,
      kubeconfig: new Reference(kubeconfig, "kubeconfig"),
      kubernetesVersion: cluster.kubernetesVersion,
    },
    after: nodes,
  };
}

/** The engine's own id of the machine: unlike its properties, it is known in a preview as long as the machine stays. */
function idOf({ index }: MachineParts): Reference {
  return new Reference(index, "id");
}

/** The machines that had the member's place before, under other names. */
export function formerOf({ hostKey }: Pick<MachineParts, "hostKey">): Reference {
  return new Reference(hostKey, "former");
}

function accessTo({ hostKey, ssh }: MachineParts, sshKey: number): PartInputs {
  return {
    ...ssh,
    user: machineUser,
    privateKey: new Reference(sshKey, "privateKey"),
    hostKey: new Reference(hostKey, "publicKey"),
  };
}
