/**
 * The Cluster component: a spec, rendered for its cloud, modelled, and built as a tree.
 */
import {
  ComponentResource,
  type ComponentResourceOptions,
  getProject,
  getStack,
  type Output,
  RunError,
} from "@pulumi/pulumi";
import { UserError } from "../cloud/errors";
import type { Model } from "../cloud/model";
import type { CloudProvider } from "../cloud/provider";
import type { ClusterArguments } from "../cloud/spec";
import { parseClusterSpec } from "../cloud/spec-parse";
import { cloudProvider } from "./clouds";
import { componentToken } from "./components";
import { buildTree } from "./tree";

export interface ClusterOptions extends ComponentResourceOptions {
  /** A provider that is not part of this package. @default the one that the spec's `cloud` names */
  readonly cloudProvider?: CloudProvider;
}

/** A Kubernetes cluster: its machines, its nodes and the way in. */
export class Cluster extends ComponentResource {
  /** The administrator's kubeconfig, as YAML text; a secret. */
  declare readonly kubeconfig: Output<string>;

  /**
   * @param spec the cluster; its name is that of the component unless it has one
   * @throws RunError that lists everything that is not allowed in the spec, before anything is made
   */
  constructor(name: string, spec: Partial<ClusterArguments>, options: ClusterOptions = {}) {
    const { cloudProvider: provider, ...componentOptions } = options;
    const model = modelOf({ name, ...spec }, provider);
    super(componentToken("Cluster"), name, {}, componentOptions);
    const outputs = buildTree(model, this, name);
    Object.assign(this, outputs);
    this.registerOutputs(outputs);
  }
}

function modelOf(input: unknown, provider: CloudProvider | undefined): Model {
  try {
    const spec = parseClusterSpec(input);
    const cloud = provider ?? cloudProvider(spec.cloud);
    return cloud.model(cloud.render(spec, { project: getProject(), stack: getStack() }));
  } catch (error) {
    // The SDK prints a RunError without a stack trace.
    throw error instanceof UserError ? new RunError(error.message) : error;
  }
}
