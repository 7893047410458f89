/**
 * The rows of the component tree that group others: the control plane and the node pools.
 */
import { ComponentResource, type ComponentResourceOptions } from "@pulumi/pulumi";

/** The type token of a component of this package. */
export function componentToken(type: string): string {
  return `pulumi-kubicorn:index:${type}`;
}

/** A row that groups others. */
export class Group extends ComponentResource {
  constructor(type: string, name: string, options: ComponentResourceOptions) {
    super(componentToken(type), name, {}, options);
  }

  /** Tells the engine that every row below this one has been asked for. */
  complete(): void {
    this.registerOutputs({});
  }
}

/** The machines that run etcd, the API server, the controllers and the scheduler. */
export class ControlPlane extends Group {
  constructor(name: string, options: ComponentResourceOptions) {
    super("ControlPlane", name, options);
  }
}

/** A group of alike machines that run pods. */
export class NodePool extends Group {
  constructor(name: string, options: ComponentResourceOptions) {
    super("NodePool", name, options);
  }
}

const types: Readonly<Record<string, new (name: string, options: ComponentResourceOptions) => Group>> = {
  ControlPlane,
  NodePool,
};

/** A component of that type; a model of another package may name types of its own. */
export function newComponent(type: string, name: string, options: ComponentResourceOptions): Group {
  const Component = types[type];
  return Component ? new Component(name, options) : new Group(type, name, options);
}
