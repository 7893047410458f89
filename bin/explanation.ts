/**
 * Expected, actual and what lies between, one row a thing. Pure.
 */
import type { PartInputs } from "../cloud/model";
import type { ResourceRepresentation } from "../cloud/reconciler";
import { kindOfUrn, nameOfUrn } from "../cloud/representation";
import type { Step, StepKind } from "../cloud/stack-engine";
import { toldSteps } from "./plan-text";
import { table } from "./table";

/** One thing of a cluster. */
export interface Explained {
  readonly name: string;
  readonly kind: string;
  readonly expected: { readonly inputs: PartInputs } | null;
  readonly actual: {
    readonly id: string | null;
    readonly exists: boolean;
    readonly inputs: PartInputs;
    /** Properties that differ from what is recorded. */
    readonly differences: readonly string[];
  } | null;
  /** What apply would do. */
  readonly step: StepKind;
  /** Properties that are the reason. */
  readonly differences: readonly string[];
}

/** @param steps of a preview */
export function explanationOf(
  expected: readonly ResourceRepresentation[],
  actual: readonly ResourceRepresentation[],
  steps: readonly Step[],
): Explained[] {
  const wanted = new Map(expected.map((one) => [one.urn, one]));
  // A part that nothing is recorded of has no id: it is expected, and not there.
  const present = new Map(actual.filter(({ id }) => id !== undefined).map((one) => [one.urn, one]));
  const planned = new Map(steps.map((step) => [step.urn, toldSteps(steps.filter(({ urn }) => urn === step.urn))[0]]));
  const urns = [
    ...new Set([...wanted.keys(), ...present.keys(), ...[...planned].flatMap(([urn, one]) => (one ? [urn] : []))]),
  ];
  return urns.map((urn) => {
    const there = present.get(urn);
    const step = planned.get(urn);
    return {
      name: wanted.get(urn)?.name ?? there?.name ?? nameOfUrn(urn),
      kind: wanted.get(urn)?.kind ?? there?.kind ?? kindOfUrn(urn),
      expected: inputsOf(wanted.get(urn)),
      actual: there ? actualOf(there) : null,
      step: step?.step ?? mending(there),
      differences: step?.step === "create" || step?.step === "delete" ? [] : (step?.differences ?? []),
    };
  });
}

/** Before it plans, apply records what is there: what is missing is made again, and what differs is changed back. */
function mending(there: ResourceRepresentation | undefined): StepKind {
  if (there === undefined || (there.exists && there.differences.length === 0)) {
    return "same";
  }
  return there.exists ? "update" : "create";
}

function inputsOf(one: ResourceRepresentation | undefined): Explained["expected"] {
  return one ? { inputs: one.inputs } : null;
}

function actualOf({ id, exists, inputs, differences }: ResourceRepresentation): NonNullable<Explained["actual"]> {
  return { id: id ?? null, exists, inputs, differences };
}

/** What a person gets. */
export function explanationTable(resources: readonly Explained[]): string {
  return table(
    ["name", "expected", "actual", "apply would"],
    resources.map(({ name, kind, expected, actual, step, differences }) => [
      name,
      expected ? kind : "none",
      actualText(actual),
      expected !== null && actual === null && step === "same"
        ? "nothing: the program has none"
        : stepText(step, differences),
    ]),
  );
}

function actualText(actual: Explained["actual"]): string {
  if (actual === null) {
    return "none";
  }
  if (!actual.exists) {
    return `missing (recorded: ${actual.id})`;
  }
  const drift = actual.differences.length > 0 ? `, differs in ${actual.differences.join(", ")}` : "";
  return `${actual.id}${drift}`;
}

function stepText(step: StepKind, differences: readonly string[]): string {
  if (step === "same" || step === "read" || step === "record") {
    return "leave it";
  }
  const words = { create: "make it", update: "change it", replace: "replace it", delete: "remove it" }[step];
  return differences.length > 0 ? `${words}: ${differences.join(", ")}` : words;
}
