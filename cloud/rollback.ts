/**
 * What a rollback is made of, pure: which rows the failed run has made, changed, moved aside and lost, the state from
 * which everything goes back, and the program that brings it there.
 */
import { canonicalText } from "./json";
import type { Model } from "./model";
import { cutOffMark, type Program, type Snapshot, type StateRow, unfinishedId } from "./stack-engine";

/** What lies between the state before a run and the one that it has left. */
export interface Comparison {
  /** Rows that stand for nothing that was there before. */
  readonly made: readonly StateRow[];
  /** Older things that wait for their removal, and take their row's place again. */
  readonly putBack: readonly StateRow[];
  /** Older things that are gone, each as it was recorded. */
  readonly lost: readonly StateRow[];
  /** Older things that have other inputs or options than before, and those whose change or removal failed. */
  readonly changed: readonly StateRow[];
  /** What the run has made and nobody may remove, with what that stands on. */
  readonly kept: readonly StateRow[];
}

/** @param attempted URNs whose change or removal failed or was cut off */
export function compare(before: Snapshot, after: Snapshot, attempted: ReadonlySet<string>): Comparison {
  const older = byUrn(live(before.resources));
  const present = live(after.resources);
  const isOlder = (row: StateRow) => before.resources.some((former) => isSameThing(former, row));
  const putBack = after.resources.filter((row) => isMovedAside(row, older, present));
  const standing = [...present.filter((row) => !putBack.some(({ urn }) => urn === row.urn)), ...putBack];
  return {
    made: after.resources.filter((row) => !isOlder(row)),
    putBack,
    lost: [...older.values()].filter((row) => !isGone(row) && !isThere(row, standing)),
    changed: present.filter((row) => {
      const former = older.get(row.urn);
      return former !== undefined && isSameThing(former, row) && (attempted.has(row.urn) || isChanged(former, row));
    }),
    kept: withNeeds(
      present.filter((row) => row.protect === true && !older.has(row.urn)),
      present.filter((row) => !older.has(row.urn)),
    ),
  };
}

/** Whether nothing lies between. */
export function isNothing({ made, putBack, lost, changed }: Comparison): boolean {
  return [made, putBack, lost, changed].every((rows) => rows.length === 0);
}

/**
 * The state from which the recorded run goes back. What the failed run has made at an older thing's place stands aside for
 * it, to be removed; where the older thing is gone, it stays in the place, and the run brings it to the former inputs.
 */
export function stateToGoBackFrom(after: Snapshot, { putBack }: Comparison): readonly StateRow[] {
  const places = byUrn(putBack);
  const rows = after.resources.flatMap((row) => {
    const older = places.get(row.urn);
    if (older === undefined) {
      return [row];
    }
    if (row === older) {
      return [without(row, "delete")];
    }
    // A row that stands for the older thing once more: that thing must not be removed by it.
    return row.id === older.id ? [] : [{ ...row, delete: true }];
  });
  return olderFirst(rows, new Set(places.keys()));
}

/**
 * What must be looked at before the run: older things that the failed run has or may have touched, and what goes with them.
 */
export function unclear(rows: readonly StateRow[], attempted: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  const things = live(rows).filter(isThing);
  // A row stands behind what it goes with.
  for (const { urn, deletedWith } of things) {
    if (attempted.has(urn) || (deletedWith !== undefined && (found.has(deletedWith) || attempted.has(deletedWith)))) {
      found.add(urn);
    }
  }
  return [...found];
}

/**
 * The rows with the reasons by which the engine changes them also where their inputs say nothing new: those of older things
 * that the failed run has or may have touched, and no others. What was not whole before is left as it was.
 */
export function marked(
  rows: readonly StateRow[],
  before: Snapshot,
  attempted: ReadonlySet<string>,
): readonly StateRow[] {
  const older = byUrn(live(before.resources));
  return rows.map((row) => {
    const former = older.get(row.urn);
    if (former === undefined || row.delete || !isThing(row) || isGone(row) || !isSameThing(former, row)) {
      return row;
    }
    const isAttempted = attempted.has(row.urn);
    if (isBroken(former) && !(isAttempted && isCutOff(former)) && said(former) === said(row)) {
      return without(row, "initErrors");
    }
    return isAttempted && !isBroken(row) ? { ...row, initErrors: [cutOffMark] } : row;
  });
}

/** The program that goes back from these rows. @param model of the former cluster, for what was lost */
export function recordedProgram(
  before: Snapshot,
  rows: readonly StateRow[],
  kept: readonly StateRow[],
  model: Model | undefined,
): Program {
  const present = live(rows);
  const older = live(before.resources);
  const lost = older.filter((row) => isThing(row) && !isThere(row, present)).map(({ urn }) => urn);
  return { kind: "recorded", rows: [...older, ...kept], lost, model };
}

/** The rows with the marks of what was not whole before and is not whole still. */
export function withFormerMarks(rows: readonly StateRow[], before: Snapshot): readonly StateRow[] {
  const broken = byUrn(live(before.resources).filter(isBroken));
  return rows.map((row) => {
    const former = broken.get(row.urn);
    return former !== undefined && isSameThing(former, row) && !isBroken(row)
      ? { ...row, initErrors: former.initErrors }
      : row;
  });
}

/** A thing that exists somewhere: no component, and no provider of the engine. */
export function isThing({ custom, type }: StateRow): boolean {
  return custom && !type.startsWith("pulumi:providers:");
}

/** The rows that stand for what should be there. */
export function live(rows: readonly StateRow[]): readonly StateRow[] {
  return rows.filter((row) => row.delete !== true);
}

function byUrn(rows: readonly StateRow[]): ReadonlyMap<string, StateRow> {
  return new Map(rows.map((row) => [row.urn, row]));
}

function isSameThing(left: StateRow, right: StateRow): boolean {
  return left.urn === right.urn && left.id === right.id && left.created === right.created;
}

function isGone({ pendingReplacement }: StateRow): boolean {
  return pendingReplacement === true;
}

function isBroken({ initErrors = [] }: StateRow): boolean {
  return initErrors.length > 0;
}

/** Whether a killed run was changing or removing the thing, so that nobody knows what is there. */
export function isCutOff({ initErrors = [] }: StateRow): boolean {
  return initErrors.includes(cutOffMark);
}

function isThere(row: StateRow, rows: readonly StateRow[]): boolean {
  return rows.some((present) => isSameThing(present, row) && !isGone(present));
}

/** What a killed run had begun to make has no place of its own to take again: its successor is the same thing. */
function isMovedAside(row: StateRow, older: ReadonlyMap<string, StateRow>, present: readonly StateRow[]): boolean {
  const former = older.get(row.urn);
  const isTakenUpAgain = present.some(({ urn, id }) => urn === row.urn && id === row.id);
  return (
    row.delete === true &&
    !isGone(row) &&
    row.id !== unfinishedId &&
    former !== undefined &&
    isSameThing(former, row) &&
    !isTakenUpAgain
  );
}

/** What the program says of a row; the rest is the engine's and the owner's. */
const saidByProgram = [
  "inputs",
  "parent",
  "provider",
  "protect",
  "retainOnDelete",
  "deletedWith",
  "dependencies",
  "propertyDependencies",
  "additionalSecretOutputs",
  "customTimeouts",
] as const;

function isChanged(former: StateRow, row: StateRow): boolean {
  const isOther = (property: (one: StateRow) => boolean) => property(row) !== property(former);
  return isOther(isGone) || isOther(isBroken) || isOther(isCutOff) || said(former) !== said(row);
}

function said(row: StateRow): string {
  return canonicalText(saidByProgram.map((property) => inAnyOrder(row[property]) ?? null));
}

function inAnyOrder(value: unknown): unknown {
  return Array.isArray(value) ? [...value].sort() : value;
}

/** The rows, with everything among the candidates that they stand on. */
function withNeeds(rows: readonly StateRow[], candidates: readonly StateRow[]): readonly StateRow[] {
  const wanted = new Set(rows.map(({ urn }) => urn));
  // A row stands behind all that it stands on.
  for (const row of [...candidates].reverse()) {
    if (wanted.has(row.urn)) {
      for (const urn of needsOf(row)) {
        wanted.add(urn);
      }
    }
  }
  return candidates.filter(({ urn }) => wanted.has(urn));
}

/** URNs that must stand before the row in a state. */
function needsOf({ parent, provider, dependencies = [], deletedWith }: StateRow): string[] {
  const providerUrn = provider?.slice(0, provider.lastIndexOf("::"));
  return [parent, providerUrn, deletedWith, ...dependencies].filter((urn): urn is string => urn !== undefined);
}

/**
 * The rows in an order in which each stands behind what it needs, and the live row of those URNs before the others: only
 * the first of a URN is looked at by a refresh, and things that go are removed in the order of their needs.
 */
function olderFirst(rows: readonly StateRow[], urns: ReadonlySet<string>): readonly StateRow[] {
  const needs = needsByRow(rows);
  for (const older of rows.filter(({ urn, delete: goes }) => urns.has(urn) && !goes)) {
    for (const row of rows.filter(({ urn, delete: goes }) => urn === older.urn && goes)) {
      // Where the older one needs the other by now, since the new model has turned them round, the order stays.
      if (!reaches(needs, older, row)) {
        needs.get(row)?.push(older);
      }
    }
  }
  const sorted = new Set<StateRow>();
  const place = (row: StateRow) => {
    if (!sorted.has(row)) {
      needs.get(row)?.forEach(place);
      sorted.add(row);
    }
  };
  rows.forEach(place);
  return [...sorted];
}

/** For each row, those before it that it stands on. */
function needsByRow(rows: readonly StateRow[]): ReadonlyMap<StateRow, StateRow[]> {
  const last = new Map<string, StateRow>();
  return new Map(
    rows.map((row) => {
      const needs = needsOf(row).flatMap((urn) => last.get(urn) ?? []);
      last.set(row.urn, row);
      return [row, needs];
    }),
  );
}

function reaches(needs: ReadonlyMap<StateRow, readonly StateRow[]>, from: StateRow, to: StateRow): boolean {
  const seen = new Set<StateRow>([from]);
  for (const row of seen) {
    for (const needed of needs.get(row) ?? []) {
      seen.add(needed);
    }
  }
  return seen.has(to);
}

function without(row: StateRow, property: "delete" | "initErrors"): StateRow {
  const { [property]: _gone, ...rest } = row;
  return rest as StateRow;
}
