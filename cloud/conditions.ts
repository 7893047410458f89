/**
 * Conditions: what is true of a thing right now, in Kubernetes' own form but without times,
 * so that looking twice at a thing that did not change gives the same answer.
 */
export interface Condition {
  /** What is told, as in `Running` or `Ready`. */
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One sentence for a person; empty where the status says it all. */
  readonly message: string;
}

/** The conditions that are not as they should be. */
export function unmet(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ status }) => status !== "True");
}
