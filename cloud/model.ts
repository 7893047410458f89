/**
 * A Model: the parts of one cluster by index, and what each takes from those before it.
 * kubicorn walks the indices in order; here they become a component tree in which only real needs wait.
 */
import type { CustomResource, CustomResourceOptions, Input } from "@pulumi/pulumi";
import { UserError } from "./errors";

/** A property of the part with that index, known once the part is made. */
export class Reference {
  constructor(
    readonly index: number,
    readonly property: string,
  ) {}
}

/** A value that a pure function makes from other values once they are known. */
export class Derived {
  constructor(
    readonly from: PartInputs,
    // biome-ignore lint/suspicious/noExplicitAny: each function names the shape of what it is given.
    readonly derive: (values: any) => unknown,
  ) {}
}

/** What a part is given: plain values, references to other parts, and what is derived from both. */
export type PartInput =
  | undefined
  | null
  | boolean
  | number
  | string
  | Reference
  | Derived
  | readonly PartInput[]
  | PartInputs;

export interface PartInputs {
  readonly [name: string]: PartInput;
}

/** The row of the component tree that a part stands under. */
export interface ComponentReference {
  /** The component's type, as in `ControlPlane` or `NodePool`. */
  readonly type: string;
  /** Its name, unique among components of that type. */
  readonly name: string;
}

interface PartBase {
  /** The part's logical name, unique in the model and the same in every run. */
  readonly name: string;
  /** The component it belongs to; the cluster itself when left out. */
  readonly component?: ComponentReference;
  readonly inputs: PartInputs;
  /** Indices of parts that must be there first, though nothing is taken from them. */
  readonly after?: readonly number[];
  /** Inputs whose change goes one way only, as an upgrade does: it is said before a run that it cannot be undone. */
  readonly oneWay?: readonly string[];
  /** The part whose removal removes this one too, as a machine does with what is on it. */
  readonly deletedWith?: number;
}

/** A part made by one of the Resources of this library or of another one. */
export interface ResourcePart extends PartBase {
  /** The Resource's kind, as in `local:Machine`. */
  readonly kind: string;
  /** The module whose `resources` has the kind, as `require` finds it from the program's folder. @default this library */
  readonly library?: string;
  /** Properties of the result that are secret. */
  readonly secrets?: readonly string[];
}

/** A part made by a class of a Pulumi SDK. */
export interface SdkPart extends PartBase {
  /** Its type token, as in `aws:ec2/vpc:Vpc`. */
  readonly type: string;
  readonly construct: (
    name: string,
    inputs: Record<string, Input<unknown>>,
    options: CustomResourceOptions,
  ) => CustomResource;
}

export type Part = ResourcePart | SdkPart;

export interface Model {
  /** The parts by index. A part may take things only from parts with a lower index. */
  resources(): ReadonlyMap<number, Part>;
  /** What the whole cluster gives back, as in `{ kubeconfig: new Reference(4, "kubeconfig") }`. */
  readonly outputs: PartInputs;
}

/** Parts put one after the other; each gets the next index. */
export class PartList {
  private readonly parts = new Map<number, Part>();

  /** Puts a part at the end and gives its index back. */
  add(part: Part): number {
    const index = this.parts.size;
    this.parts.set(index, part);
    return index;
  }

  /** A model of these parts. */
  toModel(outputs: PartInputs): Model {
    return { resources: () => new Map(this.parts), outputs };
  }
}

/** The parts in the order of their indices. */
export function inOrder(resources: ReadonlyMap<number, Part>): [number, Part][] {
  return [...resources].sort(([left], [right]) => left - right);
}

/** Every reference in the inputs, at any depth. */
export function referencesIn(input: PartInput): Reference[] {
  if (input instanceof Reference) {
    return [input];
  }
  if (input instanceof Derived) {
    return referencesIn(input.from);
  }
  if (typeof input === "object" && input !== null) {
    return Object.values(input).flatMap((item: PartInput) => referencesIn(item));
  }
  return [];
}

/** Throws when the model could not be carried out: a double name, or a need of something not made before. */
export function checkModel(resources: ReadonlyMap<number, Part>): void {
  const names = new Set<string>();
  for (const [index, part] of inOrder(resources)) {
    if (names.has(part.name)) {
      throw new UserError(`The model has two parts named "${part.name}"; names must differ.`);
    }
    names.add(part.name);
    for (const { index: needed, property } of referencesIn(part.inputs)) {
      if (needed >= index || !resources.has(needed)) {
        const found = resources.has(needed) ? "which is made later" : "which the model does not have";
        throw new UserError(`Part ${index} ("${part.name}") takes "${property}" from part ${needed}, ${found}.`);
      }
    }
    for (const needed of [...(part.after ?? []), ...(part.deletedWith === undefined ? [] : [part.deletedWith])]) {
      if (needed >= index) {
        throw new UserError(`Part ${index} ("${part.name}") names part ${needed}, which is made later.`);
      }
    }
  }
}
