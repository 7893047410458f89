/**
 * `explain`: what is expected, what is there, and what `apply` would do, side by side.
 */

import { UserError } from "../cloud/errors";
import { exitCodes } from "./exit-codes";
import { explanationOf, explanationTable } from "./explanation";
import type { Interruption } from "./interruption";
import { printAs } from "./output";
import { openReconciler } from "./reconciler-session";
import { configureStack, locateStack, openSession, say } from "./session";
import { stackExists } from "./stack";
import type { OwnArguments } from "./verb";

export interface ExplainArguments extends Omit<OwnArguments, "options"> {
  readonly options: { readonly "exit-code": boolean; readonly output: string | undefined };
}

export async function explain(args: ExplainArguments, interruption: Interruption): Promise<number> {
  const stack = await locateStack(args);
  await configureStack(stack);
  const session = await openSession(stack, interruption, interruption.signal);
  if (!(await stackExists(stack, session.pulumi))) {
    throw new UserError(`There is no stack ${stack.name} yet: "kubicorn apply --stack ${stack.name}" makes it.`);
  }
  const { reconciler, engine, known, wanted, modelOf } = await openReconciler(session, {});
  const expected = await reconciler.expected(wanted);
  say(`Looking at what is there of the stack ${stack.name}.`);
  const actual = await reconciler.actual(known);
  const steps = await engine.preview({ kind: "model", model: modelOf(wanted) }, { signal: interruption.signal });
  const resources = explanationOf(expected.resources, actual.resources, steps);
  await printAs(args.options.output, {
    value: { stack: stack.name, resources },
    table: () => explanationTable(resources),
  });
  const differs = resources.some(({ step }) => step !== "same");
  return differs && args.options["exit-code"] ? exitCodes.differs : exitCodes.done;
}
