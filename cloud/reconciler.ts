/**
 * The Reconciler: kubicorn's four verbs over a whole cluster. What the AtomicReconciler promises stands in docs/reconciler.md.
 */
import { messageOf } from "./errors";
import type { PartInputs } from "./model";

/** One resource of a cluster: as it is, or as it should be. */
export interface ResourceRepresentation {
  /** The part's logical name; of a thing that no part stands for any more, the last part of its URN. */
  readonly name: string;
  /** The Resource's kind, as in `local:Machine`, or the type token of a resource of an SDK. */
  readonly kind: string;
  /** The engine's own name for its row. */
  readonly urn: string;
  /** The owner's own name for it, where it exists. */
  readonly id?: string;
  /** Whether it is there; of what is expected: true. */
  readonly exists: boolean;
  /** Of what is: properties that differ from what is recorded. */
  readonly differences: readonly string[];
  /** Its inputs, without secrets; what another part gives stands as in `<machine-1.address>`. */
  readonly inputs: PartInputs;
}

/** A cluster as it is, or as it should be. */
export interface ClusterRepresentation<Spec> {
  readonly spec: Spec;
  readonly resources: readonly ResourceRepresentation[];
}

export interface ReconcileOptions {
  /** Given at an interruption: what is running ends, and the policy applies. */
  readonly signal?: AbortSignal | undefined;
  /** Given at an interruption of the rollback itself, which then can be resumed. */
  readonly rollbackSignal?: AbortSignal | undefined;
}

export interface Reconciler<Spec> {
  /** Audits what is really there. Changes nothing, not even what is recorded, unless `record` asks for that. */
  actual(known: Spec, options?: { readonly record?: boolean }): Promise<ClusterRepresentation<Spec>>;
  /** The intended representation, from rendering alone: never asks a cloud. */
  expected(known: Spec): Promise<ClusterRepresentation<Spec>>;
  /**
   * Brings actual to expected.
   *
   * @returns what is recorded then
   * @throws ReconcileError where it failed or was interrupted
   */
  reconcile(
    actual: ClusterRepresentation<Spec>,
    expected: ClusterRepresentation<Spec>,
    options?: ReconcileOptions,
  ): Promise<ClusterRepresentation<Spec>>;
  /**
   * Removes everything, in order. Already gone is success; a run that was cut off is taken up by the next.
   *
   * @returns leftovers that it was not allowed to remove
   */
  destroy(options?: ReconcileOptions): Promise<readonly ResourceRepresentation[]>;
}

/** What was not, or could not be, undone. */
export interface NotUndone {
  readonly name: string;
  readonly why: string;
}

/** A change, or the undoing of one, that failed or was interrupted. Its cause is the original error. */
export class ReconcileError extends Error {
  override readonly name = "ReconcileError";

  constructor(
    /** True where everything stands again as it did before. */
    readonly isRolledBack: boolean,
    /** What was undone, one sentence each, in the order in which it was. */
    readonly undone: readonly string[],
    readonly notUndone: readonly NotUndone[],
    cause: unknown,
    /** How things stand now, and what can be done about it: the second part of the message. */
    readonly outcome: string,
    /** True where the rollback did not come to its end, and the next reconcile, or `rollback`, takes it up again. */
    readonly isResumable = false,
  ) {
    const what = messageOf(cause);
    super(what.endsWith(outcome) ? what : `${what}\n${outcome}`, { cause });
  }
}
