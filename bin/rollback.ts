/**
 * `rollback`: goes back to before a change that was killed, or whose rollback did not come to its end.
 */
import { mendLeftovers, requirePlaceForState } from "./before-run";
import { consent, requireConsent } from "./consent";
import { exitCodes } from "./exit-codes";
import type { Interruption } from "./interruption";
import { openReconciler } from "./reconciler-session";
import { printReport, reportFailure } from "./run-outcome";
import { locateStack, openSession, say } from "./session";
import { stackExists } from "./stack";
import type { OwnArguments } from "./verb";

export interface RollbackArguments extends Omit<OwnArguments, "options"> {
  readonly options: { readonly output: string | undefined };
}

export async function rollback(args: RollbackArguments, interruption: Interruption): Promise<number> {
  requireConsent(args.yes, "rollback");
  const stack = await locateStack(args);
  requirePlaceForState(stack, true);
  const session = await openSession(stack, interruption, interruption.signal);
  const format = args.options.output;
  const nothing = {
    stack: stack.name,
    outcome: "nothing to do",
    steps: [],
    undone: [],
    notUndone: [],
    error: null,
  } as const;
  if (!(await stackExists(stack, session.pulumi))) {
    await printReport(format, nothing, `There is no stack ${stack.name}, so there is nothing to undo.`);
    return 0;
  }
  await mendLeftovers(stack, true);
  try {
    const { reconciler, engine } = await openReconciler(session, {});
    if ((await engine.journal.read()) === undefined) {
      const sentence = `The last change of the stack ${stack.name} came to its end: there is nothing to undo.`;
      await printReport(format, nothing, sentence);
      return 0;
    }
    if (!(await consent(args.yes, `Undo the last change of the stack ${stack.name}?`, interruption.signal))) {
      say("Nothing was changed.");
      return exitCodes.failed;
    }
    const { undone, notUndone } = await reconciler.rollback({ rollbackSignal: interruption.signal });
    const isWhole = notUndone.length === 0;
    const outcome = isWhole ? "rolled back" : "partly rolled back";
    const sentence = isWhole
      ? `The stack ${stack.name} stands as it did before its last change.`
      : `The last change of the stack ${stack.name} was undone, but for what is told above.`;
    await printReport(format, { ...nothing, outcome, undone, notUndone }, sentence);
    return isWhole ? exitCodes.done : exitCodes.partlyRolledBack;
  } catch (error) {
    return reportFailure(error, { stack: stack.name, steps: [], format }, interruption);
  }
}
