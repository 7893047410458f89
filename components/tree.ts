/**
 * Builds a Model as a component tree. Edges stand between the resources themselves, never between components:
 * one on an empty component would be lost, and one on a full component would wait for more than is needed.
 */
import {
  all,
  type ComponentResource,
  type CustomResource,
  type CustomResourceOptions,
  type Input,
  type Inputs,
  type Output,
  output,
} from "@pulumi/pulumi";
import { isPlainObject } from "../cloud/json";
import {
  type ComponentReference,
  checkModel,
  Derived,
  inOrder,
  type Model,
  type Part,
  type PartInput,
  type PartInputs,
  Reference,
  referencesIn,
} from "../cloud/model";
import { type Group, newComponent } from "./components";
import { DynamicResource } from "./dynamic/resource";

/**
 * Makes every part of the model below the root.
 *
 * @param prefix put before every name, so that two clusters of one stack never share one
 * @returns the model's outputs
 */
export function buildTree(model: Model, root: ComponentResource, prefix: string): Record<string, Output<unknown>> {
  return new TreeBuilder(model, root, prefix).build();
}

class TreeBuilder {
  private readonly parts: ReadonlyMap<number, Part>;
  private readonly made = new Map<number, CustomResource>();
  private readonly groups = new Map<string, Group>();
  private readonly results: ReadonlyMap<number, readonly string[]>;

  constructor(
    private readonly model: Model,
    private readonly root: ComponentResource,
    private readonly prefix: string,
  ) {
    this.parts = model.resources();
    checkModel(this.parts);
    this.results = wantedResults(this.parts, model.outputs);
  }

  build(): Record<string, Output<unknown>> {
    for (const [index, part] of inOrder(this.parts)) {
      this.made.set(index, this.make(index, part));
    }
    for (const group of this.groups.values()) {
      group.complete();
    }
    const present = Object.entries(this.model.outputs).filter(([, value]) =>
      referencesIn(value).every(({ index }) => this.made.has(index)),
    );
    return Object.fromEntries(present.map(([name, value]) => [name, output(this.resolve(value))]));
  }

  private make(index: number, part: Part): CustomResource {
    const name = `${this.prefix}-${part.name}`;
    const options = this.optionsOf(part);
    const inputs = this.resolve(part.inputs) as Inputs;
    if ("construct" in part) {
      return part.construct(name, inputs, options);
    }
    const { kind, library } = part;
    return new DynamicResource(name, { kind, library, inputs, results: this.results.get(index) ?? [] }, options);
  }

  private optionsOf(part: Part): CustomResourceOptions {
    // An edge to an index that the model does not have is an edge to nothing.
    const dependsOn = (part.after ?? []).flatMap((index) => this.made.get(index) ?? []);
    const deletedWith = part.deletedWith === undefined ? undefined : this.made.get(part.deletedWith);
    return {
      parent: part.component === undefined ? this.root : this.groupOf(part.component),
      ...(dependsOn.length > 0 && { dependsOn }),
      ...(deletedWith !== undefined && { deletedWith }),
    };
  }

  private groupOf({ type, name }: ComponentReference): Group {
    const key = `${type}/${name}`;
    const existing = this.groups.get(key);
    if (existing !== undefined) {
      return existing;
    }
    const group = newComponent(type, `${this.prefix}-${name}`, { parent: this.root });
    this.groups.set(key, group);
    return group;
  }

  private resolve(input: PartInput): Input<unknown> {
    return resolveInput(input, (reference) => this.outputOf(reference));
  }

  private outputOf({ index, property }: Reference): Output<unknown> {
    return propertyOf(this.made.get(index), property);
  }
}

/** A property of what was made for a part. */
export function propertyOf(resource: CustomResource | undefined, property: string): Output<unknown> {
  if (resource instanceof DynamicResource) {
    return resource.result(property);
  }
  const value: unknown = resource?.[property as keyof CustomResource];
  if (value === undefined) {
    throw new TypeError(`The part that gives "${property}" has no such property`);
  }
  return output(value);
}

/** The input as the SDK takes it, with every reference in it made an output. */
export function resolveInput(input: PartInput, outputOf: (reference: Reference) => Output<unknown>): Input<unknown> {
  if (input instanceof Reference) {
    return outputOf(input);
  }
  if (input instanceof Derived) {
    return all(resolveInput(input.from, outputOf) as Record<string, Input<unknown>>).apply(input.derive);
  }
  if (Array.isArray(input)) {
    return input.map((item: PartInput) => resolveInput(item, outputOf));
  }
  if (isPlainObject(input)) {
    const entries = Object.entries(input as PartInputs);
    return Object.fromEntries(entries.map(([key, item]) => [key, resolveInput(item, outputOf)]));
  }
  return input;
}

/** For each part, the properties that others take from it. */
export function wantedResults(
  parts: ReadonlyMap<number, Part>,
  outputs: PartInputs,
): ReadonlyMap<number, readonly string[]> {
  const wanted = new Map<number, string[]>();
  for (const { index, property } of [outputs, ...[...parts.values()].map(({ inputs }) => inputs)].flatMap(
    referencesIn,
  )) {
    const properties = wanted.get(index) ?? [];
    wanted.set(index, properties.includes(property) ? properties : [...properties, property]);
  }
  return wanted;
}
