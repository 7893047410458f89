/**
 * The Reconciler: kubicorn's four verbs over a whole cluster.
 */

/** One resource as an audit saw it. */
export interface AuditedResource {
  /** The part's logical name. */
  readonly name: string;
  /** The owner's own name for it, where it exists. */
  readonly id?: string;
  readonly exists: boolean;
  /** Properties that differ from what is recorded. */
  readonly differences: readonly string[];
}

/** The representation of a cluster: what exists, or what should. */
export interface ClusterRepresentation<Spec> {
  readonly spec: Spec;
  readonly resources: readonly AuditedResource[];
}

export interface Reconciler<Spec> {
  /** Audits what is really there; changes nothing. */
  actual(known: Spec): Promise<ClusterRepresentation<Spec>>;
  /** The intended representation; never asks a cloud. */
  expected(known: Spec): Promise<ClusterRepresentation<Spec>>;
  /** Brings actual to expected. */
  reconcile(
    actual: ClusterRepresentation<Spec>,
    expected: ClusterRepresentation<Spec>,
  ): Promise<ClusterRepresentation<Spec>>;
  /** Removes everything that was made; already gone is success. */
  destroy(): Promise<void>;
}
