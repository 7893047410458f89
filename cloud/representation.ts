/**
 * A cluster as the Reconciler shows it, pure: as it should be, from its model, and as it is, from what is recorded and
 * what an audit saw. Holds no secret.
 */
import { isPlainObject } from "./json";
import {
  Derived,
  inOrder,
  type Model,
  type Part,
  type PartInput,
  type PartInputs,
  Reference,
  referencesIn,
} from "./model";
import type { ClusterRepresentation, ResourceRepresentation } from "./reconciler";
import { isThing, live } from "./rollback";
import type { AuditedRow, StateRow } from "./stack-engine";

/** The engine's row for a model's part. */
export type UrnOf = (model: Model, index: number) => string;

/** The cluster that the model describes. */
export function expectedRepresentation<Spec>(spec: Spec, model: Model, urnOf: UrnOf): ClusterRepresentation<Spec> {
  const parts = model.resources();
  const resources = inOrder(parts).map(([index, part]) => ({
    name: part.name,
    kind: "kind" in part ? part.kind : kindOfUrn(urnOf(model, index)),
    urn: urnOf(model, index),
    exists: true,
    differences: [],
    inputs: shownInputs(part, parts),
  }));
  return { spec, resources };
}

/**
 * The cluster that is recorded.
 *
 * @param model of the cluster as it is known: parts of it that nothing is recorded of are told as missing
 * @param audit what was seen of the recorded things; without one they are taken for what is recorded
 */
export function actualRepresentation<Spec>(
  spec: Spec,
  model: Model,
  urnOf: UrnOf,
  rows: readonly StateRow[],
  audit?: readonly AuditedRow[],
): ClusterRepresentation<Spec> {
  const expected = expectedRepresentation(spec, model, urnOf).resources;
  const names = new Map(expected.map(({ urn, name }) => [urn, name]));
  const seen = new Map(audit?.map((row) => [row.urn, row]));
  const recorded = recordedThings(rows, names).map((thing) => {
    const { exists = thing.exists, differences = [] } = seen.get(thing.urn) ?? {};
    return { ...thing, exists: exists && thing.exists, differences };
  });
  const urns = new Set(recorded.map(({ urn }) => urn));
  const missing = expected.filter(({ urn }) => !urns.has(urn)).map((thing) => ({ ...thing, exists: false }));
  return { spec, resources: [...recorded, ...missing] };
}

/** The things that the rows stand for. @param names of the parts, by URN */
export function recordedThings(
  rows: readonly StateRow[],
  names: ReadonlyMap<string, string> = new Map(),
): ResourceRepresentation[] {
  return live(rows)
    .filter(isThing)
    .map((row) => ({
      name: names.get(row.urn) ?? nameOfUrn(row.urn),
      kind: kindOfType(row.type),
      urn: row.urn,
      ...(row.id !== undefined && { id: row.id }),
      exists: row.pendingReplacement !== true,
      differences: [],
      inputs: recordedInputs(row),
    }));
}

/** The last part of a URN: the name under which the engine knows the thing. */
export function nameOfUrn(urn: string): string {
  return urn.split("::").pop() ?? urn;
}

/** The kind of a thing, from its URN: `urn:pulumi:<stack>::<project>::<parent's type>$<type>::<name>`. */
export function kindOfUrn(urn: string): string {
  return kindOfType(urn.split("::")[2]?.split("$").pop() ?? "");
}

function kindOfType(type: string): string {
  return type.replace(/^pulumi-nodejs:dynamic\//, "");
}

function shownInputs(part: Part, parts: ReadonlyMap<number, Part>): PartInputs {
  const secrets = "secrets" in part ? (part.secrets ?? []) : [];
  return Object.fromEntries(
    Object.entries(part.inputs)
      .filter(([name]) => !secrets.includes(name))
      .map(([name, input]) => [name, shown(input, parts)]),
  );
}

/** The input with the names of what is not known yet. Whatever is no plain value may be a secret, and is left out. */
function shown(input: PartInput, parts: ReadonlyMap<number, Part>): PartInput {
  if (input instanceof Reference) {
    return `<${parts.get(input.index)?.name ?? input.index}.${input.property}>`;
  }
  if (input instanceof Derived) {
    const references = [...new Set(referencesIn(input).map((reference) => shown(reference, parts)))];
    return references.length > 0
      ? `<from ${references.join(", ")}>`
      : shown(input.derive(input.from) as PartInput, parts);
  }
  if (Array.isArray(input)) {
    return input.map((item: PartInput) => shown(item, parts));
  }
  if (typeof input !== "object" || input === null) {
    return input;
  }
  return isPlainObject(input) ? shownObject(input as PartInputs, (item) => shown(item, parts)) : undefined;
}

function shownObject(inputs: PartInputs, show: (item: PartInput) => PartInput): PartInputs {
  return Object.fromEntries(Object.entries(inputs).map(([name, item]) => [name, show(item)]));
}

/** Inputs as recorded, without secrets and without what is for the binding itself. */
function recordedInputs({ inputs = {}, outputs = {}, additionalSecretOutputs }: StateRow): PartInputs {
  const secrets = new Set(Array.isArray(additionalSecretOutputs) ? additionalSecretOutputs : []);
  return Object.fromEntries(
    Object.entries(inputs)
      .filter(([name]) => !name.startsWith("__") && !secrets.has(name) && !isSecret(outputs[name]))
      .map(([name, value]) => [name, withoutSecrets(value)]),
  );
}

function withoutSecrets(value: unknown): PartInput {
  if (Array.isArray(value)) {
    return value.map(withoutSecrets);
  }
  if (isPlainObject(value)) {
    return isSecret(value)
      ? undefined
      : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutSecrets(item)]));
  }
  return value as PartInput;
}

/** The engine's wrapping of a secret. */
function isSecret(value: unknown): boolean {
  return isPlainObject(value) && value["4dabf18193072939515e22adb298388d"] === "1b47061264138c4ac30d75fd1eb44270";
}
