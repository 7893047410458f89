/**
 * The parts of a local cluster in the order in which they are made: the one list to read first.
 */
import {
  controlPlaneComponent,
  formerOf,
  hostKeyPart,
  joinInformationPart,
  kubeconfigPart,
  type MachineParts,
  nodePart,
  poolComponent,
  ReplacementQueue,
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

  const addMachine = (place: Place, hostKey: number, machineImage: Reference): LocalMachine => {
    const index = list.add(machinePart(cluster, place, { machineImage, image, sshKey, network, hostKey }));
    const ssh = { host: new Reference(index, "sshHost"), port: new Reference(index, "sshPort") };
    return { ...place, hostKey, ssh, index };
  };
  const standard = new Reference(image, "reference");
  const controlPlane = cluster.controlPlane.machines.map((machine) => {
    const hostKey = list.add(hostKeyPart(cluster, machine, controlPlaneComponent, { after: [sshKey] }));
    return addMachine({ machine, component: controlPlaneComponent, pool: undefined }, hostKey, standard);
  });
  const queue = new ReplacementQueue();
  const workers = cluster.pools.flatMap((pool) => {
    const component = poolComponent(pool);
    // Looked up before anything of the pool is made or changed.
    const own = pool.image === undefined ? [] : [list.add(poolImagePart(pool, pool.image, image))];
    return pool.machines.map((machine, position) => {
      const hostKey = queue.join(pool, position, (queued) =>
        list.add(hostKeyPart(cluster, machine, component, { pool, after: [sshKey, ...own, ...queued] })),
      );
      const [ownImage] = own;
      return addMachine(
        { machine, component, pool },
        hostKey,
        ownImage === undefined ? standard : new Reference(ownImage, "image"),
      );
    });
  });

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

/** A machine's place in the cluster. */
interface Place {
  readonly machine: RenderedMachine;
  readonly component: ComponentReference;
  /** None for a control-plane machine. */
  readonly pool: RenderedPool | undefined;
}

interface LocalMachine extends MachineParts, Place {}

function imagePart({ kubernetesVersion }: LocalCluster): ResourcePart {
  return { name: "image", kind: "local:Image", inputs: { kubernetesVersion } };
}

function poolImagePart(pool: RenderedPool, reference: string, image: number): ResourcePart {
  return {
    name: `${pool.name}-image`,
    component: poolComponent(pool),
    kind: "local:PoolImage",
    inputs: { pool: pool.name, reference, engine: new Reference(image, "engine") },
  };
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
  { machine, component, pool }: Place,
  shared: Record<"image" | "sshKey" | "network" | "hostKey", number> & { machineImage: Reference },
): ResourcePart {
  const { machineImage, image, sshKey, network, hostKey } = shared;
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
      image: machineImage,
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
      ...(pool && { former: formerOf({ hostKey }) }),
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
