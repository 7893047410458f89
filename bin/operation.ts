/**
 * The four verbs that run one Pulumi operation in the foreground: up, preview, refresh and down.
 */
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { UserError } from "../cloud/errors";
import { onlyDeadLocks, removeLocks } from "../reconciler/lock";
import { mendState } from "../reconciler/mend-state";
import type { Arguments } from "./arguments";
import type { Interruption } from "./interruption";
import { leftInKubeconfigs } from "./kubeconfig-files";
import { forgetPreparation, prepareEngine, prepareImage, unpreparedVersion } from "./machines";
import { clearPendingCreates, isEmptyState, readState } from "./pending-creates";
import { configureStack, ensureStack, locateStack, openSession, type Session, say } from "./session";
import { placeOf, type Stack, stackExists } from "./stack";
import { requireRoomForState, requireWritable } from "./surroundings";
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
  const open = (signal: AbortSignal) => openSession(stack, interruption, signal);
  if (!operation.withoutStack) {
    await configureStack(stack);
  }
  const kubernetesVersion = operation.command === "up" ? await unpreparedVersion(stack) : undefined;
  if (!kubernetesVersion) {
    return open(interruption.signal);
  }
  const preparation = { stack, kubernetesVersion, yes };
  await prepareEngine(preparation, interruption.signal);
  const [session] = await sideBySide(interruption.signal, open, (signal) => prepareImage(preparation, signal));
  return session;
}

/** Two pieces of work at once; where one fails, the other is ended too, and the first failure is told. */
async function sideBySide<A, B>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<A>,
  other: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const both = [one(either), other(either)] as const;
  for (const work of both) {
    work.catch((error: unknown) => failure.abort(error));
  }
  await Promise.allSettled(both);
  failure.signal.throwIfAborted();
  return Promise.all(both);
}

async function afterUp({ stack, pulumi }: Session, succeeded: boolean): Promise<void> {
  if (succeeded) {
    await clearPendingCreates(stack, pulumi, say);
  } else {
    forgetPreparation(stack);
  }
}

/** A first run that was refused before anything was made leaves no stack behind; what the person has set for it stays. */
async function removeIfEmpty({ stack, pulumi }: Session): Promise<void> {
  if (isEmptyState(await readState(stack))) {
    await pulumi.ask(["stack", "rm", "--force", "--yes", "--preserve-config", "--stack", stack.name]);
    say(`Nothing was made, and the stack ${stack.name} is none again.`);
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

function requirePlaceForState({ project, backend }: Stack, changes: boolean): void {
  const folders = [project.folder, backend.folder ?? project.folder].filter((folder) => existsSync(folder));
  for (const folder of folders) {
    requireRoomForState(folder);
  }
  if (changes) {
    requireWritable(folders.at(-1) ?? project.folder);
  }
}

/** Clears away what a run has left that was killed or had no room. A run that changes nothing needs no lock. */
async function mendLeftovers(stack: Stack, changes: boolean): Promise<void> {
  const dead = changes && (await onlyDeadLocks(placeOf(stack)));
  const mended = mendState(placeOf(stack));
  if (mended) {
    say(mended);
  }
  if (dead) {
    removeLocks(placeOf(stack));
    say(`Took away the lock on the stack ${stack.name}: the run that held it was killed.`);
  }
}
