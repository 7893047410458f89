/**
 * What the package gives to programs: the Cluster, the Reconciler, and the parts for those who build their own.
 */
export * from "./cloud/atomic-reconciler";
export * from "./cloud/conditions";
export * from "./cloud/errors";
export * from "./cloud/model";
export * from "./cloud/names";
export * from "./cloud/provider";
export * from "./cloud/ranges";
export * from "./cloud/reconciler";
export * from "./cloud/resource";
export * from "./cloud/retry";
export type { Undoing } from "./cloud/rollback-run";
export * from "./cloud/rollout";
export * from "./cloud/spec";
export * from "./cloud/spec-parse";
export * from "./cloud/spec-reference";
export * from "./cloud/stack-engine";
export { Cluster, type ClusterOptions } from "./components/cluster";
export { clusterModel } from "./components/cluster-model";
export { ControlPlane, NodePool } from "./components/components";
export { clusterFromConfig, settingsIn } from "./components/config";
export { dynamicHandler } from "./components/dynamic/handler";
export { DynamicResource } from "./components/dynamic/resource";
export { resources } from "./components/resources";
export { buildTree } from "./components/tree";
export { type PulumiEngineOptions, pulumiEngine } from "./reconciler/engine";
