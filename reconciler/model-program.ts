/**
 * A model as a program, and the rows that its parts get: the same as those of a program that makes a Cluster of it.
 */
import { ComponentResource, type Inputs } from "@pulumi/pulumi";
import type { Model, Part } from "../cloud/model";
import type { StateRow } from "../cloud/stack-engine";
import { componentToken } from "../components/components";
import { buildTree } from "../components/tree";
import type { StackPlace } from "./stack-place";

/** The component that all parts stand under. */
export interface Root {
  /** Its type token. */
  readonly type: string;
  /** Its name, with which the names of all rows begin. */
  readonly name: string;
}

/** As index.ts makes it: `new Cluster("cluster", ...)`. */
const clusterRoot: Root = { type: componentToken("Cluster"), name: "cluster" };

/** The Cluster among the rows; where there is none yet, the one that is about to be made. */
export function rootIn(rows: readonly StateRow[]): Root {
  const row = rows.find(({ type }) => type === clusterRoot.type);
  return row === undefined ? clusterRoot : { type: row.type, name: row.urn.slice(row.urn.lastIndexOf("::") + 2) };
}

/** @returns the program, as the Automation API runs it; it gives back the model's outputs */
export function modelProgram(model: Model, root: Root = clusterRoot): () => Promise<Record<string, unknown>> {
  return async () => {
    const component = new RootComponent(root.type, root.name);
    const outputs = buildTree(model, component, root.name);
    component.complete(outputs);
    return outputs;
  };
}

class RootComponent extends ComponentResource {
  complete(outputs: Inputs): void {
    this.registerOutputs(outputs);
  }
}

/** The URN of the part's row. */
export function rowOfPart(
  model: Model,
  index: number,
  { stack, project, root = clusterRoot }: StackPlace & { readonly root?: Root },
): string {
  const part = model.resources().get(index);
  if (part === undefined) {
    throw new TypeError(`The model has no part ${index}`);
  }
  const group = part.component === undefined ? [] : [componentToken(part.component.type)];
  const types = [root.type, ...group, typeOf(part)].join("$");
  return `urn:pulumi:${stack}::${project}::${types}::${root.name}-${part.name}`;
}

function typeOf(part: Part): string {
  return "construct" in part ? part.type : `pulumi-nodejs:dynamic/${part.kind}`;
}
