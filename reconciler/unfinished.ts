/**
 * Operations that a killed run had begun, as rows of the state. Pulumi keeps them as pending operations, warns of them at
 * length, and then forgets them, also where the things are there. As unfinished rows, the next run finishes what the program
 * still has and removes what it has no more. Pure.
 */
import { isPlainObject } from "../cloud/json";
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
  const recorded = new Set(resources.map(({ urn }) => urn));
  return {
    taken: {
      resources: [
        ...resources.map((row) => (cutOff.has(key(row)) && row.custom && !row.delete ? notWhole(row) : row)),
        ...begun.map((resource) => unfinished(resource, recorded.has(resource.urn))),
      ],
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
  return { ...row, initErrors: reasons.length > 0 ? reasons : [cutOffMark] };
}

/** @param isReplacement whether the row's former thing is there too: then this one is never the row's own */
function unfinished(resource: StateRow, isReplacement: boolean): StateRow {
  return {
    ...resource,
    id: unfinishedId,
    outputs: { ...resource.inputs, [internalKeys.unfinished]: true },
    ...(isReplacement && { delete: true }),
  };
}

function isOurs({ type, inputs }: StateRow): boolean {
  return type.startsWith("pulumi-nodejs:dynamic/") && isPlainObject(inputs) && internalKeys.kind in inputs;
}
