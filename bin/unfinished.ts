/**
 * Things that a killed run had begun to make: Pulumi keeps them as pending operations, warns of them at length, and then
 * forgets them, also where they are there. Before a run they are put into the state as unfinished things, which the run
 * finishes where the program still has them, and removes where it has them no more.
 */
import { isPlainObject } from "../cloud/json";
import { internalKeys } from "../components/dynamic/shim";
import { readState } from "./pending-creates";
import type { PulumiRunner } from "./pulumi";
import type { Stack } from "./stack";

type Properties = Readonly<Record<string, unknown>>;

/**
 * Puts what was being made into the state, and says what that was. Only where the backend is a folder.
 *
 * @param what what this run does about it: "goes on with it"
 */
export async function takeUpUnfinished(
  stack: Stack,
  pulumi: PulumiRunner,
  { what, say }: { readonly what: string; readonly say: (line: string) => void },
): Promise<void> {
  if (!(await readState(stack)).includes('"pending_operations"')) {
    return;
  }
  const exported: unknown = JSON.parse(await pulumi.ask(["stack", "export", "--stack", stack.name]));
  const deployment = isPlainObject(exported) ? exported.deployment : undefined;
  if (!isPlainObject(exported) || !isPlainObject(deployment)) {
    return;
  }
  const { taken, names, interrupted } = withUnfinished(deployment);
  if (interrupted === 0) {
    return;
  }
  await pulumi.ask(["stack", "import", "--stack", stack.name], JSON.stringify({ ...exported, deployment: taken }));
  if (names.length > 0) {
    say(`An interrupted run was making ${names.join(", ")}: this one ${what}.`);
  }
}

export interface Taken {
  readonly taken: Properties;
  /** The things that were being made. */
  readonly names: readonly string[];
  /** How many operations are no longer pending. */
  readonly interrupted: number;
}

/**
 * @param deployment what the state holds, as exported
 * @returns the same without the pending operations that the next run takes up: what was changed or removed is recorded as
 *   it was before, and is changed or removed again. Pending stay things of other libraries, which nobody can look for.
 */
export function withUnfinished(deployment: Properties): Taken {
  const resources = objects(deployment.resources);
  const recorded = new Set(resources.map(({ urn }) => urn));
  const [pending, begun]: [Properties[], Properties[]] = [[], []];
  const operations = objects(deployment.pending_operations);
  for (const operation of operations) {
    const resource = isPlainObject(operation.resource) ? operation.resource : {};
    if (operation.type === "creating" && resource.custom === true) {
      (isOurs(resource) ? begun : pending).push(isOurs(resource) ? resource : operation);
    }
  }
  return {
    taken: {
      ...deployment,
      resources: [...resources, ...begun.map((resource) => unfinished(resource, recorded.has(resource.urn)))],
      pending_operations: pending,
    },
    names: begun.map(({ urn }) => String(urn).split("::").pop() ?? ""),
    interrupted: operations.length - pending.length,
  };
}

/** @param isReplacement whether the row's former thing is there too: then this one is never the row's own */
function unfinished(resource: Properties, isReplacement: boolean): Properties {
  const inputs = isPlainObject(resource.inputs) ? resource.inputs : {};
  return {
    ...resource,
    id: "unfinished",
    outputs: { ...inputs, [internalKeys.unfinished]: true },
    ...(isReplacement && { delete: true }),
  };
}

function isOurs({ type, inputs }: Properties): boolean {
  const isDynamic = typeof type === "string" && type.startsWith("pulumi-nodejs:dynamic/");
  return isDynamic && isPlainObject(inputs) && internalKeys.kind in inputs;
}

function objects(value: unknown): Properties[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
