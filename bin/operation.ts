/**
 * The four verbs that run one Pulumi operation in the foreground: up, preview, refresh and down.
 */
import { constants } from "node:os";
import { isatty } from "node:tty";
import { UserError } from "../cloud/errors";
import type { Arguments } from "./arguments";
import { mendLeftovers, openPrepared, removeIfEmpty, requirePlaceForState } from "./before-run";
import type { Interruption } from "./interruption";
import { leftInKubeconfigs } from "./kubeconfig-files";
import { forgetPreparation } from "./machines";
import { clearPendingCreates } from "./pending-creates";
import { configureStack, ensureStack, locateStack, openSession, type Session, say } from "./session";
import { type Stack, stackExists } from "./stack";
import { takeUpUnfinished } from "./unfinished";

export interface Operation {
  /** Pulumi's name for it. */
  readonly command: "up" | "preview" | "refresh" | "destroy";
  /** What npm calls it. */
  readonly script: string;
  /** What is said where there is no stack; without it, the stack is made. */
  readonly withoutStack?: string;
}

/** Of a program that wrote to a pipe that nobody reads. */
const endedByPipe = 128 + constants.signals.SIGPIPE;

/** Arguments with which `down` does not remove everything. */
const leavesSome = /^(-t|--target|--exclude|--preview-only)/;

export async function operate(operation: Operation, args: Arguments, interruption: Interruption): Promise<number> {
  const changes = operation.command !== "preview";
  if (changes) {
    refuseWithoutAnswer(operation, args);
  }
  const stack = await locateStack(args);
  requirePlaceForState(stack, changes);
  const session = await prepare(operation, stack, args.yes, interruption);
  await mendLeftovers(stack, changes);
  if (operation.withoutStack && !(await stackExists(stack, session.pulumi))) {
    say(operation.withoutStack.replace("STACK", stack.name));
    return 0;
  }
  const isNew = !operation.withoutStack && (await ensureStack(session));
  if (changes) {
    await takeUpUnfinished(session.stack, session.pulumi, { what: takesUp[operation.command], say });
  }
  // Lines of dots are for a person who looks on.
  const quiet = isatty(1) ? [] : ["--suppress-progress"];
  const exitCode = await session.pulumi.run([operation.command, "--stack", stack.name, ...quiet, ...args.rest]);
  if (interruption.exitCode !== undefined) {
    say(`Interrupted. What was made is recorded; run "npm run ${operation.script}" again to go on.`);
    // Pulumi calls a run that it cut short a success where nothing was under way just then.
    return exitCode || interruption.exitCode;
  }
  if (exitCode === endedByPipe) {
    say(`Whoever read the output has ended, and Pulumi with it. Run "npm run ${operation.script}" again to go on.`);
  }
  if (operation.command === "destroy" && exitCode === 0 && !args.rest.some((argument) => leavesSome.test(argument))) {
    leftInKubeconfigs(stack).forEach(say);
  }
  if (operation.command === "up") {
    await afterUp(session, exitCode === 0);
  }
  if (isNew && exitCode !== 0 && exitCode !== endedByPipe) {
    await removeIfEmpty(session);
  }
  return exitCode;
}

/** What each operation does about things that an interrupted run had begun to make. */
const takesUp = { up: "goes on with it", preview: "", refresh: "keeps it on record", destroy: "removes it" } as const;

async function prepare(operation: Operation, stack: Stack, yes: boolean, interruption: Interruption): Promise<Session> {
  if (!operation.withoutStack) {
    await configureStack(stack);
  }
  return operation.command === "up"
    ? openPrepared(stack, yes, interruption)
    : openSession(stack, interruption, interruption.signal);
}

async function afterUp({ stack, pulumi }: Session, succeeded: boolean): Promise<void> {
  if (succeeded) {
    await clearPendingCreates(stack, pulumi, say);
  } else {
    forgetPreparation(stack);
  }
}

/** Pulumi asks before it changes anything; where nobody can answer, that is said before anything is set up. */
function refuseWithoutAnswer({ script }: Operation, args: Arguments): void {
  const answered =
    args.yes || args.rest.some((argument) => /^(--skip-preview|--preview-only|-f)(=true)?$/.test(argument));
  const terminal = isatty(0) && isatty(1) && !args.rest.includes("--non-interactive");
  if (!answered && !terminal) {
    throw new UserError(
      `There is no terminal to ask on whether to go on: add --yes, as in "npm run ${script} -- --yes". Nothing was changed.`,
    );
  }
}
