/**
 * What a cloud provider is: a pure rendering of the cloud-neutral spec, and the model made from that.
 * A provider that lives outside this package implements the same interface.
 */
import type { KubeletSettings } from "./kubelet-settings";
import type { Model } from "./model";
import { composeName, nameLimits } from "./names";
import type { ClusterSpec, Taint } from "./spec";

/** The Pulumi project and stack that the cluster belongs to. */
export interface Environment {
  readonly project: string;
  readonly stack: string;
}

/** One machine, with every name it will have. */
export interface RenderedMachine {
  /** Its host name and node name. */
  readonly name: string;
  /** Its logical name in the component tree, as in `workers-1`. */
  readonly logicalName: string;
  readonly cpus?: number | undefined;
  readonly memoryGiB?: number | undefined;
}

export interface RenderedPool {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Kubelet settings of its machines, over those of the whole cluster. */
  readonly kubelet: KubeletSettings;
  /** How long draining one of its nodes may take, in seconds. */
  readonly drainSeconds: number;
  readonly machines: readonly RenderedMachine[];
}

/** A cluster for one cloud: nothing left to default, every name derived. */
export interface RenderedCluster {
  readonly cloud: string;
  readonly name: string;
  /** Who owns what is made, as it stands on labels and tags: `project/stack`. */
  readonly owner: string;
  readonly kubernetesVersion: string;
  readonly network: ClusterSpec["network"];
  /** How machines reach the API: a name that outlives every machine. */
  readonly endpoint: { readonly name: string; readonly port: number };
  readonly controlPlane: {
    readonly schedulable: boolean;
    /** Kubelet settings of its machines, over those of the whole cluster. */
    readonly kubelet: KubeletSettings;
    readonly machines: readonly RenderedMachine[];
  };
  /** In the order of their names. */
  readonly pools: readonly RenderedPool[];
}

export interface CloudProvider<Rendered extends RenderedCluster = RenderedCluster> {
  readonly name: string;
  /** The spec for this cloud. Pure; throws InputError for what this cloud cannot do. */
  render(spec: ClusterSpec, environment: Environment): Rendered;
  /** The parts of the rendered cluster. Pure. */
  model(cluster: Rendered): Model;
}

/** What every cloud renders alike. */
export function renderCluster(spec: ClusterSpec, environment: Environment): RenderedCluster {
  const { name, cloud, kubernetesVersion, network, controlPlane, pools } = spec;
  return {
    cloud,
    name,
    owner: `${environment.project}/${environment.stack}`,
    kubernetesVersion,
    network,
    endpoint: { name: `api.${name}.kubicorn.internal`, port: 6443 },
    controlPlane: {
      schedulable: controlPlane.schedulable,
      kubelet: controlPlane.kubelet,
      machines: renderMachines(name, "control-plane", controlPlane),
    },
    pools: [...pools]
      .sort((left, right) => (left.name < right.name ? -1 : 1))
      .map((pool) => ({
        name: pool.name,
        labels: pool.labels,
        taints: pool.taints,
        kubelet: pool.kubelet,
        drainSeconds: pool.drainSeconds,
        machines: renderMachines(name, pool.name, pool),
      })),
  };
}

function renderMachines(
  cluster: string,
  group: string,
  { count, cpus, memoryGiB }: { count: number; cpus?: number | undefined; memoryGiB?: number | undefined },
): RenderedMachine[] {
  return Array.from({ length: count }, (_, index) => {
    const logicalName = `${group}-${index + 1}`;
    return { name: composeName([cluster, logicalName], nameLimits.hostName), logicalName, cpus, memoryGiB };
  });
}
