/**
 * The cluster spec for this computer: what container machines need besides what every cloud renders alike.
 */
import type { Json } from "../../cloud/json";
import { type Environment, type RenderedCluster, renderCluster } from "../../cloud/provider";
import type { ClusterSpec } from "../../cloud/spec";

export interface LocalCluster extends RenderedCluster {
  /** How pods on different machines reach each other: by routes, since all machines share one bridge. */
  readonly podNetworkBackend: "host-gw";
  /** Settings of every kubelet. */
  readonly kubelet: Readonly<Record<string, Json>>;
}

export function render(spec: ClusterSpec, environment: Environment): LocalCluster {
  return {
    ...renderCluster(spec, environment),
    podNetworkBackend: "host-gw",
    // Every machine sees the whole computer's disk, so none of them may evict pods or images because that is filling up.
    kubelet: {
      evictionHard: { "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%" },
      imageGCHighThresholdPercent: 100,
    },
  };
}
