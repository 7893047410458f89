/**
 * How a run of the AtomicReconciler ended: for a program as data, for a person as sentences, and as the exit code.
 */
import { messageOf } from "../cloud/errors";
import type { NotUndone, ReconcileError } from "../cloud/reconciler";
import { exitCodes } from "./exit-codes";
import type { Interruption } from "./interruption";
import { library } from "./library";
import { printAs } from "./output";
import type { ToldStep } from "./plan-text";
import { say } from "./session";

export type Outcome =
  | "done"
  | "nothing to do"
  | "nothing changed"
  | "rolled back"
  | "partly rolled back"
  | "rollback pending"
  | "kept";

/** What a program gets of a change. */
export interface ChangeReport {
  readonly stack: string;
  readonly outcome: Outcome;
  readonly steps: readonly ToldStep[];
  readonly undone: readonly string[];
  readonly notUndone: readonly NotUndone[];
  readonly error: string | null;
}

/** @param sentence what a person gets */
export function printReport(format: string | undefined, report: ChangeReport, sentence: string): Promise<void> {
  return printAs(format, { value: report, table: () => `${sentence}\n` });
}

/**
 * Tells of a change that failed.
 *
 * @returns the exit code
 * @throws the error again, where it is none of the AtomicReconciler's
 */
export async function reportFailure(
  error: unknown,
  {
    stack,
    steps,
    format,
  }: { readonly stack: string; readonly steps: readonly ToldStep[]; readonly format?: string | undefined },
  interruption: Interruption,
): Promise<number> {
  if (!(error instanceof library().ReconcileError)) {
    throw error;
  }
  const outcome = outcomeOf(error);
  say(messageOf(error));
  if (format === "json" || format === "yaml") {
    const { undone, notUndone } = error;
    const report = { stack, outcome, steps, undone, notUndone, error: messageOf(error.cause) };
    await printReport(format, report, "");
  }
  return interruption.exitCode ?? codes[outcome];
}

function outcomeOf({ isRolledBack, isResumable, undone, notUndone }: ReconcileError): Outcome {
  if (isResumable) {
    return "rollback pending";
  }
  if (isRolledBack) {
    return undone.length === 0 ? "nothing changed" : "rolled back";
  }
  return undone.length === 0 && notUndone.length === 0 ? "kept" : "partly rolled back";
}

const codes: Readonly<Record<Outcome, number>> = {
  done: exitCodes.done,
  "nothing to do": exitCodes.done,
  "nothing changed": exitCodes.failed,
  kept: exitCodes.failed,
  "rolled back": exitCodes.rolledBack,
  "partly rolled back": exitCodes.partlyRolledBack,
  "rollback pending": exitCodes.partlyRolledBack,
};
