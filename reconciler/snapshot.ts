/**
 * A stack's state as Pulumi exports and imports it, and as the Reconciler reads it. Pure.
 */
import { z } from "zod";
import type { Snapshot, StateRow } from "../cloud/stack-engine";

const row = z.looseObject({ urn: z.string(), type: z.string(), custom: z.boolean().default(false) });

const operation = z.looseObject({
  resource: row,
  type: z.enum(["creating", "updating", "deleting", "reading", "importing"]),
});

const exported = z.looseObject({
  deployment: z
    .looseObject({ resources: z.array(row).nullish(), pending_operations: z.array(operation).nullish() })
    .nullish(),
});

/**
 * @param text what `pulumi stack export` prints
 * @throws Error where it is nothing of that kind
 */
export function parseSnapshot(text: string): Snapshot {
  const { deployment, ...rest } = exported.parse(JSON.parse(text));
  const { resources, pending_operations: operations, ...others } = deployment ?? {};
  return {
    resources: (resources ?? []) as readonly StateRow[],
    pendingOperations: (operations ?? []) as Snapshot["pendingOperations"],
    rest: { ...rest, deployment: others },
  };
}

/** The text for `pulumi stack import`. */
export function snapshotText(snapshot: Snapshot): string {
  return JSON.stringify({ ...snapshot.rest, deployment: deploymentOf(snapshot) });
}

/** The deployment alone, as it also stands in a state file. */
export function deploymentOf({ resources, pendingOperations, rest }: Snapshot): Record<string, unknown> {
  return {
    ...(rest.deployment as Record<string, unknown>),
    resources,
    ...(pendingOperations.length > 0 && { pending_operations: pendingOperations }),
  };
}
