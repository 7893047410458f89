/**
 * The parts of a local cluster in the order in which they are made: the one list to read first.
 */
import {
  controlPlaneComponent,
  hostKeyPart,
  joinInformationPart,
  kubeconfigPart,
  type MachineParts,
  nodePart,
  poolComponent,
  readinessPart,
  sshKeyPart,
  userDataOf,
} from "../../bootstrap/parts";
import { controlPlaneUserData, workerUserData } from "../../bootstrap/user-data";
import {
  type ComponentReference,
  Derived,
  type Model,
  PartList,
  Reference,
  type ResourcePart,
} from "../../cloud/model";
import type { RenderedMachine, RenderedPool } from "../../cloud/provider";
import type { LocalCluster } from "./render";

export function model(cluster: LocalCluster): Model {
  const list = new PartList();
  const image = list.add(imagePart(cluster));
  const sshKey = list.add(sshKeyPart(cluster));
  const network = list.add(networkPart(cluster, image, sshKey));

  const addMachine = (machine: RenderedMachine, component: ComponentReference, pool?: RenderedPool): LocalMachine => {
    const hostKey = list.add(hostKeyPart(machine, component));
    const index = list.add(machinePart(cluster, { machine, component, pool }, { image, sshKey, network, hostKey }));
    const ssh = { host: new Reference(index, "sshHost"), port: new Reference(index, "sshPort") };
    return { machine, component, hostKey, ssh, index, pool };
  };
  const controlPlane = cluster.controlPlane.machines.map((machine) => addMachine(machine, controlPlaneComponent));
  const workers = cluster.pools.flatMap((pool) =>
    pool.machines.map((machine) => addMachine(machine, poolComponent(pool), pool)),
  );

  const first = controlPlane[0] as LocalMachine;
  const joinInformation = list.add(joinInformationPart(first, sshKey));
  const kubeconfig = list.add(kubeconfigPart(cluster, first, { sshKey, server: apiServerOf(first) }));
  const endpointAddress = new Reference(first.index, "address");
  const nodes = [...controlPlane, ...workers].map((member) =>
    list.add(nodePart(cluster, member, member.pool, { sshKey, joinInformation, kubeconfig, endpointAddress })),
  );
  list.add(readinessPart(cluster, kubeconfig, nodes));
  return list.toModel({ kubeconfig: new Reference(kubeconfig, "kubeconfig") });
}

interface LocalMachine extends MachineParts {
  /** None for a control-plane machine. */
  readonly pool: RenderedPool | undefined;
}

function imagePart({ kubernetesVersion }: LocalCluster): ResourcePart {
  return { name: "image", kind: "local:Image", inputs: { kubernetesVersion } };
}

function networkPart({ name, owner, network }: LocalCluster, image: number, sshKey: number): ResourcePart {
  return {
    name: "network",
    kind: "local:Network",
    inputs: {
      cluster: name,
      owner,
      identity: new Reference(sshKey, "identity"),
      range: network.machines,
      avoid: [network.pods, network.services],
      engine: new Reference(image, "engine"),
    },
  };
}

function machinePart(
  cluster: LocalCluster,
  {
    machine,
    component,
    pool,
  }: { machine: RenderedMachine; component: ComponentReference; pool?: RenderedPool | undefined },
  { image, sshKey, network, hostKey }: Record<"image" | "sshKey" | "network" | "hostKey", number>,
): ResourcePart {
  return {
    name: `${machine.logicalName}-machine`,
    component,
    kind: "local:Machine",
    inputs: {
      name: machine.name,
      cluster: cluster.name,
      owner: cluster.owner,
      identity: new Reference(sshKey, "identity"),
      role: pool === undefined ? "control-plane" : "worker",
      engine: new Reference(image, "engine"),
      image: new Reference(image, "reference"),
      network: new Reference(network, "name"),
      range: new Reference(network, "subnet"),
      userData: userDataOf(sshKey, hostKey, (access) =>
        pool === undefined
          ? controlPlaneUserData({ ...controlPlaneMachine(cluster, machine), access })
          : workerUserData({ ...workerMachine(cluster, machine, pool), access }),
      ),
      cpus: machine.cpus,
      memoryGiB: machine.memoryGiB,
      publishApi: pool === undefined,
    },
  };
}

function controlPlaneMachine(cluster: LocalCluster, machine: RenderedMachine) {
  return {
    cluster: cluster.name,
    machine: machine.name,
    kubernetesVersion: cluster.kubernetesVersion,
    endpoint: cluster.endpoint,
    podRange: cluster.network.pods,
    serviceRange: cluster.network.services,
    schedulable: cluster.controlPlane.schedulable,
    podNetworkBackend: cluster.podNetworkBackend,
    kubelet: cluster.kubelet,
    ownKubelet: cluster.controlPlane.kubelet,
  };
}

function workerMachine(cluster: LocalCluster, machine: RenderedMachine, { name: pool, labels, taints }: RenderedPool) {
  const { name, kubernetesVersion, endpoint } = cluster;
  return { cluster: name, machine: machine.name, pool, kubernetesVersion, endpoint, labels, taints };
}

/** The API server as this computer reaches it. */
function apiServerOf(first: LocalMachine): Derived {
  const from = { host: new Reference(first.index, "sshHost"), port: new Reference(first.index, "apiPort") };
  return new Derived(from, ({ host, port }: { host: string; port: number }) => `https://${host}:${port}`);
}
