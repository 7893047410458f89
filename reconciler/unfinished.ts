/**
 * Operations that a killed run had begun, as rows of the state. Pulumi keeps them as pending operations, warns of them at
 * length, and then forgets them, also where the things are there. As unfinished rows, the next run finishes what the program
 * still has and removes what it has no more. Pure.
 */
import { canonicalText, isPlainObject } from "../cloud/json";
import { cutOffMark, type PendingOperation, type Snapshot, type StateRow, unfinishedId } from "../cloud/stack-engine";
import { internalKeys } from "../components/dynamic/shim";

export interface Taken {
  readonly taken: Snapshot;
  /** The things that were being made. */
  readonly names: readonly string[];
  /** How many operations are no longer pending. */
  readonly interrupted: number;
}

/**
 * The state without the pending operations that the next run takes up. What was being changed or removed is recorded as it
 * was before, and as not whole, so that a run which keeps it brings it to what is expected. Pending stay things of other
 * libraries that were being made, which nobody can look for.
 */
export function withUnfinished({ resources, pendingOperations, rest }: Snapshot): Taken {
  const isBegun = ({ type, resource }: PendingOperation) => type === "creating" && resource.custom;
  const begun = pendingOperations.filter((one) => isBegun(one) && isOurs(one.resource)).map(({ resource }) => resource);
  const pending = pendingOperations.filter((one) => isBegun(one) && !isOurs(one.resource));
  const cutOff = new Set(
    pendingOperations
      .filter(({ type }) => type === "updating" || type === "deleting")
      .map(({ resource }) => key(resource)),
  );
  const standing = resources.map((row) => (cutOff.has(key(row)) && row.custom && !row.delete ? notWhole(row) : row));
  return {
    taken: {
      resources: begun.reduce(withBegun, standing),
      pendingOperations: pending,
      rest,
    },
    names: begun.map(({ urn }) => urn.split("::").pop() ?? ""),
    interrupted: pendingOperations.length - pending.length,
  };
}

function key({ urn, id = "" }: StateRow): string {
  return JSON.stringify([urn, id]);
}

/** The engine changes a row that has such a reason also where the program says nothing new of it. */
function notWhole(row: StateRow): StateRow {
  const reasons = row.initErrors ?? [];
  return { ...row, initErrors: reasons.includes(cutOffMark) ? reasons : [...reasons, cutOffMark] };
}

/**
 * The rows with the one that was begun. A row has one thing at most that does not wait for its removal, and that one stands
 * before the others: the engine refuses two, and a refresh looks at the first alone.
 */
function withBegun(rows: readonly StateRow[], begun: StateRow): readonly StateRow[] {
  const row = unfinished(begun);
  const isOfRow = ({ urn }: StateRow) => urn === row.urn;
  if (rows.some((one) => isOfRow(one) && one.id === unfinishedId && isSaidAgain(one, row))) {
    return rows;
  }
  const place = rows.findIndex((one) => isOfRow(one) && !one.delete);
  if (place >= 0) {
    // What is gone already gives up its place; what is there still is the row's own, and its successor goes.
    return rows[place]?.pendingReplacement
      ? rows.map((one, index) => (index === place ? row : one))
      : [...rows, { ...row, delete: true }];
  }
  const goes = rows.findIndex(isOfRow);
  return goes >= 0 ? [...rows.slice(0, goes), row, ...rows.slice(goes)] : [...rows, row];
}

function unfinished(resource: StateRow): StateRow {
  return { ...resource, id: unfinishedId, outputs: { ...resource.inputs, [internalKeys.unfinished]: true } };
}

/** Whether both stand for the same thing, which two killed runs have begun. */
function isSaidAgain(one: StateRow, other: StateRow): boolean {
  // A secret is encrypted to another text each time.
  const told = ({ inputs }: StateRow) => canonicalText(inputs).replaceAll(/"ciphertext":"[^"]*"/g, "");
  return told(one) === told(other);
}

function isOurs({ type, inputs }: StateRow): boolean {
  return type.startsWith("pulumi-nodejs:dynamic/") && isPlainObject(inputs) && internalKeys.kind in inputs;
}
