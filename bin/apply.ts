/**
 * `apply`: brings the cluster to what its configuration says, or leaves it as it was.
 */
import type { Step } from "../cloud/stack-engine";
import { mendLeftovers, openPrepared, removeIfEmpty, requirePlaceForState } from "./before-run";
import { consent, requireConsent } from "./consent";
import { exitCodes } from "./exit-codes";
import type { Interruption } from "./interruption";
import { forgetPreparation } from "./machines";
import { countText, planText, type ToldStep, toldSteps } from "./plan-text";
import { openReconciler } from "./reconciler-session";
import { printReport, reportFailure } from "./run-outcome";
import { configureStack, ensureStack, locateStack, type Session, say } from "./session";
import type { OwnArguments } from "./verb";

export interface ApplyArguments extends Omit<OwnArguments, "options"> {
  readonly options: { readonly policy: string | undefined; readonly output: string | undefined };
}

export async function apply(args: ApplyArguments, interruption: Interruption): Promise<number> {
  requireConsent(args.yes, "apply");
  const stack = await locateStack(args);
  requirePlaceForState(stack, true);
  await configureStack(stack);
  const session = await openPrepared(stack, args.yes, interruption);
  await mendLeftovers(stack, true);
  const isNew = await ensureStack(session);
  let exitCode: number = exitCodes.failed;
  try {
    exitCode = await reconcile(session, args, interruption);
  } finally {
    if (exitCode !== exitCodes.done) {
      forgetPreparation(stack);
      await (isNew && removeIfEmpty(session));
    }
  }
  return exitCode;
}

async function reconcile(session: Session, args: ApplyArguments, interruption: Interruption): Promise<number> {
  const { policy, output: format } = args.options;
  const stack = session.stack.name;
  let steps: readonly ToldStep[] = [];
  const approve = (planned: readonly Step[]) => {
    steps = toldSteps(planned);
    say(`${steps.length === 0 ? "Nothing but the record changes." : `The plan:\n${planText(steps)}`}`);
    const counts = countText(steps, planWords) || "the record alone";
    return consent(args.yes, `Go on with it (${counts})?`, interruption.signal);
  };
  try {
    const options = { policy: policy === "keep" ? ("keep" as const) : ("rollback" as const), approve };
    const { reconciler, known, wanted } = await openReconciler(session, options);
    const expected = await reconciler.expected(wanted);
    say(`Looking at what is there of the stack ${stack}.`);
    const signals = { signal: interruption.signal, rollbackSignal: interruption.secondSignal };
    await reconciler.reconcile(await reconciler.actual(known), expected, signals);
  } catch (error) {
    return reportFailure(error, { stack, steps, format }, interruption);
  }
  const outcome = steps.length === 0 ? "nothing to do" : "done";
  const report = { stack, outcome, steps, undone: [], notUndone: [], error: null } as const;
  await printReport(format, report, doneSentence(stack, steps));
  return 0;
}

const planWords = { create: "to make", update: "to change", replace: "to replace", delete: "to remove" };
const doneWords = { create: "made", update: "changed", replace: "replaced", delete: "removed" };

function doneSentence(stack: string, steps: readonly ToldStep[]): string {
  return steps.length === 0
    ? `The stack ${stack} is as its configuration says; nothing was to do.`
    : `The stack ${stack} is as its configuration says: ${countText(steps, doneWords)}.`;
}
