/**
 * The Cluster component: a spec, rendered for its cloud, modelled, and built as a tree.
 */
import {
  ComponentResource,
  type ComponentResourceOptions,
  getProject,
  getStack,
  Output,
  RunError,
} from "@pulumi/pulumi";
import { InputError, UserError, type Violation } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";
import type { Model } from "../cloud/model";
import type { CloudProvider } from "../cloud/provider";
import type { ClusterArguments } from "../cloud/spec";
import { pathText } from "../cloud/spec-parse";
import { clusterModel } from "./cluster-model";
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
    const model = modelOf({ ...spec, name: spec.name ?? name }, provider);
    super(componentToken("Cluster"), name, {}, componentOptions);
    const outputs = buildTree(model, this, name);
    Object.assign(this, outputs);
    this.registerOutputs(outputs);
  }
}

function modelOf(input: ClusterArguments, provider: CloudProvider | undefined): Model {
  try {
    refuseOutputs(input);
    return clusterModel({ project: getProject(), stack: getStack() }, provider)(input);
  } catch (error) {
    // The SDK prints a RunError without a stack trace.
    throw error instanceof UserError ? new RunError(error.message) : error;
  }
}

/** A plan has to be made before any Output has its value, so the spec cannot depend on one. */
function refuseOutputs(input: unknown): void {
  const violations = outputsIn(input, []);
  if (violations.length > 0) {
    throw new InputError("The cluster's configuration", violations);
  }
}

function outputsIn(input: unknown, path: readonly PropertyKey[]): Violation[] {
  if (Output.isInstance(input)) {
    const allowed =
      "a plain value is needed, since what to make depends on it; read it with config.require and the like";
    return [{ path: pathText(path), value: "an Output", allowed }];
  }
  if (Array.isArray(input)) {
    return input.flatMap((item, index) => outputsIn(item, [...path, index]));
  }
  return isPlainObject(input) ? Object.entries(input).flatMap(([key, item]) => outputsIn(item, [...path, key])) : [];
}
