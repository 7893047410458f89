/**
 * The kinds of failure this library knows.
 * Each message is a sentence for the person at the terminal: what is wrong, where, and what to do.
 */

/** Something only the person can mend: shown without a stack trace and never retried. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** One thing in the configuration that is not allowed. */
export interface Violation {
  /** Where it stands, as written in the configuration: `pools[1].zones`. */
  readonly path: string;
  /** The value found there; `undefined` when it is missing. */
  readonly value: unknown;
  /** What is allowed there, as the end of the sentence "… is not allowed: …". */
  readonly allowed: string;
}

/** A configuration with violations; the message lists all of them, one a line. */
export class InputError extends UserError {
  override readonly name = "InputError";

  constructor(
    what: string,
    readonly violations: readonly Violation[],
  ) {
    const lines = violations.map((violation) => `  - ${describeViolation(violation)}`);
    const count = violations.length === 1 ? "1 value that is" : `${violations.length} values that are`;
    super(`${what} has ${count} not allowed:\n${lines.join("\n")}\nNothing was changed.`);
  }
}

/** A command on a machine, or a call to an API, that was carried out and failed. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";

  /**
   * @param operation what was being done, as in "joining the cluster"
   * @param host the machine or API it was done on
   * @param detail what was found there; must hold no secret
   * @param code the exit code or status, where there was one
   */
  constructor(
    readonly operation: string,
    readonly host: string,
    readonly detail: string,
    readonly code?: number,
  ) {
    super(`${host}: ${operation} failed${code === undefined ? "" : ` (exit code ${code})`}: ${detail.trim()}`);
  }
}

/** A failure that another try may cure: a refused connection, a busy engine. */
export class TransientError extends Error {
  override readonly name = "TransientError";
}

/** A wait that reached its time limit or was interrupted. */
export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A violation as one line. */
export function describeViolation({ path, value, allowed }: Violation): string {
  const found = value === undefined ? "missing" : `${abbreviated(value)} is not allowed`;
  return `${path}: ${found}; ${allowed}`;
}

function abbreviated(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
