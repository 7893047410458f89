/**
 * Where a stack is kept.
 */
export interface StackPlace {
  readonly project: string;
  /** The stack's own part of its name: `local` of `organization/project/local`. */
  readonly stack: string;
  /** The name as Pulumi takes it. */
  readonly fullName: string;
  /** The backend's folder, where it is one. */
  readonly backendFolder?: string | undefined;
}
