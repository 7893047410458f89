/**
 * The parts of a local cluster in the order in which they are made: the one list to read first.
 */
import type { Model } from "../../cloud/model";
import type { LocalCluster } from "./render";

export function model(_cluster: LocalCluster): Model {
  return { resources: () => new Map(), outputs: {} };
}
