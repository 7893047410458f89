/**
 * The program's side of the binding: a Resource of any kind as a row of the component tree.
 * It gives the engine the constant shim itself, so that no closure is ever serialized.
 */
import { CustomResource, type CustomResourceOptions, type Inputs, type Output, type Resource } from "@pulumi/pulumi";
import { internalKeys, shimText } from "./shim";

export interface DynamicArguments {
  /** The Resource's kind, as in `local:Machine`. */
  readonly kind: string;
  /** The module whose `resources` has the kind. @default this package */
  readonly library?: string | undefined;
  readonly inputs: Inputs;
  /** Names of results that are no inputs and that the program wants to use. */
  readonly results: readonly string[];
}

/** A dynamic resource whose verbs are those of the Resource of its kind. */
export class DynamicResource extends CustomResource {
  constructor(name: string, { kind, library, inputs, results }: DynamicArguments, options: CustomResourceOptions) {
    const type = `pulumi-nodejs:dynamic/${kind}`;
    super(
      type,
      name,
      {
        // A property that the constructor does not name never becomes an output.
        ...Object.fromEntries(results.filter((result) => result !== "id").map((result) => [result, undefined])),
        ...inputs,
        [internalKeys.kind]: kind,
        [internalKeys.library]: library,
        [internalKeys.row]: rowOf(type, name, options.parent),
        [internalKeys.provider]: shimText,
      },
      options,
    );
  }

  /** One of the properties named on construction, or `id`. */
  result(name: string): Output<unknown> {
    const value = (this as unknown as Record<string, Output<unknown> | undefined>)[name];
    if (value === undefined) {
      throw new TypeError(`${name} was not asked for when the resource was constructed`);
    }
    return value;
  }
}

/**
 * The URN that the resource will have. A bare promise: as an output it would depend on the parent,
 * which stands for all its children, and so the resource would wait for itself.
 */
function rowOf(type: string, name: string, parent: Resource | undefined): Promise<string> | undefined {
  if (parent === undefined) {
    return undefined;
  }
  return new Promise((resolve) => {
    parent.urn.apply((urn) => {
      const [stack, project, types] = urn.split("::");
      resolve([stack, project, `${types}$${type}`, name].join("::"));
    });
  });
}
