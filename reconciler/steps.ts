/**
 * The engine's events as the steps of a run, as what an audit saw, and as the words of an error. Pure.
 */
import type { EngineEvent } from "@pulumi/pulumi/automation";
import { canonicalText } from "../cloud/json";
import type { AuditedRow, Step, StepKind } from "../cloud/stack-engine";

type Metadata = NonNullable<EngineEvent["resourcePreEvent"]>["metadata"];

/** What each of the engine's operations is; those that are not named do nothing to a thing. */
const kinds: Readonly<Record<string, StepKind>> = {
  same: "same",
  create: "create",
  update: "update",
  delete: "delete",
  "create-replacement": "replace",
  "delete-replaced": "delete",
  read: "read",
  "read-replacement": "read",
  import: "create",
  "import-replacement": "replace",
};

/** The step that an event tells of, if it tells of one. */
export function stepOf(event: EngineEvent): Step | undefined {
  const { resourcePreEvent: begun, resOutputsEvent: done, resOpFailedEvent: failed } = event;
  const told = begun ?? done ?? failed;
  const known = told && kinds[told.metadata.op];
  if (told === undefined || known === undefined) {
    return undefined;
  }
  const kind = known === "same" && changesRecord(told.metadata) ? "record" : known;
  const isPlanned = (begun ?? done)?.planning === true;
  const state = isPlanned ? "planned" : begun ? "begun" : done ? "done" : "failed";
  // Of a preview, what a step would give is no second step; the stack's outputs are known only then.
  const isTold = isPlanned && done !== undefined && kind !== "record";
  return isTold ? undefined : { kind, urn: told.metadata.urn, ...partsOf(told.metadata), state };
}

/** Whether a thing that stays as it is, is recorded with other options, or the stack with other outputs. */
function changesRecord({ old, new: wanted, type }: Metadata): boolean {
  if (!old || !wanted) {
    return false;
  }
  const recorded = ({ protect = false, retainOnDelete = false, parent = "", provider = "", outputs }: typeof old) =>
    canonicalText([protect, retainOnDelete, parent, provider, type === "pulumi:pulumi:Stack" ? outputs : null]);
  return recorded(old) !== recorded(wanted);
}

function partsOf({ old, new: wanted, diffs, keys, detailedDiff }: Metadata): Pick<Step, "custom" | "differences"> {
  const told = [...(diffs ?? []), ...(keys ?? []), ...Object.keys(detailedDiff ?? {})].map(property);
  const differences = told.length > 0 ? told : changedInputs(old?.inputs, wanted?.inputs);
  return { custom: (wanted ?? old)?.custom ?? false, differences: [...new Set(differences)].sort() };
}

/** Of dynamic resources the engine tells no properties. */
function changedInputs(old: Inputs | undefined, wanted: Inputs | undefined): string[] {
  if (old === undefined || wanted === undefined) {
    return [];
  }
  const names = [...Object.keys(old), ...Object.keys(wanted)].filter((name) => !name.startsWith("__"));
  return names.filter((name) => canonicalText(old[name]) !== canonicalText(wanted[name]));
}

type Inputs = Readonly<Record<string, unknown>>;

/** The property that a path begins with. */
function property(path: string): string {
  return path.split(/[.[]/)[0] ?? path;
}

/** What one event of a previewed refresh tells of a thing. */
export function auditOf({ resOutputsEvent, resourcePreEvent }: EngineEvent): AuditedRow | undefined {
  const metadata = (resOutputsEvent ?? resourcePreEvent)?.metadata;
  if (metadata === undefined || !(metadata.old ?? metadata.new)?.custom) {
    return undefined;
  }
  const { urn, op } = metadata;
  if (op === "delete") {
    return { urn, exists: false, differences: [] };
  }
  return resOutputsEvent ? { urn, exists: true, differences: partsOf(metadata).differences } : undefined;
}

/** Gathers what went wrong in a run, each failure with the thing that it is of. */
export class FailureRecord {
  private readonly failures: string[] = [];

  note({ diagnosticEvent }: EngineEvent): void {
    if (diagnosticEvent?.severity !== "error") {
      return;
    }
    const { urn = "", message } = diagnosticEvent;
    const name = urn.includes("pulumi:pulumi:Stack") ? "" : (urn.split("::").pop() ?? "");
    const text = plain(message);
    // The last line of each run, which says only that it failed.
    if (text !== "" && !/^(update|preview|refresh|destroy|resource \S+|)\s*(failed|canceled)$/i.test(text)) {
      this.failures.push(name === "" ? text : `${name}: ${text}`);
    }
  }

  /** All failures as one text; empty where none was told. */
  get text(): string {
    return [...new Set(this.failures)].join("\n");
  }
}

/** Without the marks of colours, and of what the engine puts around a provider's own words. */
function plain(message: string): string {
  return message
    .replaceAll(/<\{%[a-z]*%\}>/g, "")
    .replace(/^error: /, "")
    .trim();
}
