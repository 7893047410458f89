/**
 * The cluster spec for this computer: what container machines need besides what every cloud renders alike.
 */
import { type Environment, type RenderedCluster, renderCluster } from "../../cloud/provider";
import type { ClusterSpec } from "../../cloud/spec";

export interface LocalCluster extends RenderedCluster {
  /** How pods on different machines reach each other: by routes, since all machines share one bridge. */
  readonly podNetworkBackend: "host-gw";
}

export function render(spec: ClusterSpec, environment: Environment): LocalCluster {
  return { ...renderCluster(spec, environment), podNetworkBackend: "host-gw" };
}
