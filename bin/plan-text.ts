/**
 * What a change is about to do, and what it has done, as text for a person and as data for a program. Pure.
 */
import type { ResourceRepresentation } from "../cloud/reconciler";
import { kindOfUrn, nameOfUrn } from "../cloud/representation";
import type { Step, StepKind } from "../cloud/stack-engine";
import { columns } from "./table";

/** One step as programs get it. */
export interface ToldStep {
  readonly step: StepKind;
  readonly name: string;
  readonly kind: string;
  /** Properties that are the reason. */
  readonly differences: readonly string[];
}

/** The steps that do something to a thing, one a thing: a replacement is one, though it also removes. */
export function toldSteps(steps: readonly Step[]): ToldStep[] {
  const told = new Map<string, ToldStep>();
  for (const { kind, urn, custom, differences } of steps) {
    const isOfThing = custom && !silent.has(kind) && !urn.includes("::pulumi:providers:");
    if (isOfThing && told.get(urn)?.step !== "replace") {
      told.set(urn, { step: kind, name: nameOfUrn(urn), kind: kindOfUrn(urn), differences });
    }
  }
  return [...told.values()];
}

const silent: ReadonlySet<StepKind> = new Set(["same", "read", "record"]);
const signs: Readonly<Partial<Record<StepKind, string>>> = { create: "+", update: "~", replace: "+-", delete: "-" };

/** The plan as lines, in the order in which the engine means to go. */
export function planText(steps: readonly ToldStep[]): string {
  const rows = steps.map(({ step, name, kind, differences }) => [
    `  ${signs[step] ?? ""}`,
    step,
    name,
    kind,
    step === "create" || step === "delete" ? "" : differences.join(", "),
  ]);
  return columns(rows).join("\n");
}

/** How many things are made, changed, replaced and removed: `2 to make, 1 to change`, or with other words for it. */
export function countText(steps: readonly ToldStep[], words: Readonly<Partial<Record<StepKind, string>>>): string {
  const counts = Object.entries(words).flatMap(([kind, word]) => {
    const count = steps.filter(({ step }) => step === kind).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.join(", ");
}

/** Things as lines: name, kind and the owner's own name. */
export function thingsText(things: readonly ResourceRepresentation[]): string {
  return columns(things.map(({ name, kind, id = "" }) => [`  ${name}`, kind, id])).join("\n");
}
