/**
 * A cluster's spec as the model of its parts, for one stack: parsed, rendered for its cloud, modelled. Asks no cloud.
 */
import type { Model } from "../cloud/model";
import type { CloudProvider, Environment } from "../cloud/provider";
import type { ClusterArguments } from "../cloud/spec";
import { parseClusterSpec } from "../cloud/spec-parse";
import { cloudProvider } from "./clouds";

/**
 * @param environment the stack that the cluster is made in: names of what it makes hold it
 * @param provider one that is not part of this package. @default the one that the spec's `cloud` names
 * @returns the model of a spec; throws InputError that lists everything in it that is not allowed
 */
export function clusterModel(environment: Environment, provider?: CloudProvider): (spec: ClusterArguments) => Model {
  return (input) => {
    const spec = parseClusterSpec(input);
    const cloud = provider ?? cloudProvider(spec.cloud);
    return cloud.model(cloud.render(spec, environment));
  };
}
