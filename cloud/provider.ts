/**
 * What a cloud provider is: a pure rendering of the cloud-neutral spec, and the model made from that.
 * A provider that lives outside this package implements the same interface.
 */

import { canonicalText } from "./json";
import type { KubeletSettings } from "./kubelet-settings";
import type { Model } from "./model";
import { composeName, nameLimits, shortHash } from "./names";
import type { ClusterSpec, Taint } from "./spec";

/** The Pulumi project and stack that the cluster belongs to. */
export interface Environment {
  readonly project: string;
  readonly stack: string;
}

/** One machine, with every name it will have. */
export interface RenderedMachine {
  /** Its host name and node name: another one wherever the machine has to be replaced for what its pool asks. */
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
  /** The image of its machines, by the cloud's own reference. @default the cloud's own for the Kubernetes version */
  readonly image?: string | undefined;
  /** How many of its machines are replaced at a time. */
  readonly surge: number;
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
      // No other name for another size: it changes in place, since the only control plane is never replaced for it.
      machines: renderMachines(name, "control-plane", controlPlane, undefined),
    },
    pools: [...pools]
      .sort((left, right) => (left.name < right.name ? -1 : 1))
      .map((pool) => ({
        name: pool.name,
        labels: pool.labels,
        taints: pool.taints,
        kubelet: pool.kubelet,
        drainSeconds: pool.drainSeconds,
        image: pool.image,
        surge: pool.surge,
        machines: renderMachines(name, pool.name, pool, generationOf(pool)),
      })),
  };
}

interface MachineSize {
  readonly cpus?: number | undefined;
  readonly memoryGiB?: number | undefined;
}

function renderMachines(
  cluster: string,
  group: string,
  { count, cpus, memoryGiB }: MachineSize & { readonly count: number },
  generation: string | undefined,
): RenderedMachine[] {
  return Array.from({ length: count }, (_, index) => {
    const logicalName = `${group}-${index + 1}`;
    const parts = [cluster, logicalName, ...(generation === undefined ? [] : [generation])];
    return { name: composeName(parts, nameLimits.hostName), logicalName, cpus, memoryGiB };
  });
}

/**
 * What stands in the names of a pool's machines for all that a machine is replaced for, so that the new one can be there
 * beside the old one. Where the pool asks for nothing of that kind, its machines have plain names.
 */
function generationOf({
  cpus,
  memoryGiB,
  image,
}: MachineSize & { readonly image?: string | undefined }): string | undefined {
  const asked = { cpus, memoryGiB, image };
  return Object.values(asked).every((value) => value === undefined) ? undefined : shortHash(canonicalText(asked));
}
