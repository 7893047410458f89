/**
 * What comes before a run that changes a stack, whichever verb it is of: room for the state, what dead runs have left, and
 * what the machines of this computer need.
 */
import { existsSync } from "node:fs";
import { onlyDeadLocks, removeLocks } from "../reconciler/lock";
import { mendState } from "../reconciler/mend-state";
import type { Interruption } from "./interruption";
import { prepareEngine, prepareImage, unpreparedVersion } from "./machines";
import { isEmptyState, readState } from "./pending-creates";
import { openSession, type Session, say } from "./session";
import { placeOf, type Stack } from "./stack";
import { requireRoomForState, requireWritable } from "./surroundings";

/**
 * Opens the session of a run that makes machines, with what those need on this computer.
 *
 * @param yes whether the person has said yes to everything beforehand
 */
export async function openPrepared(stack: Stack, yes: boolean, interruption: Interruption): Promise<Session> {
  const open = (signal: AbortSignal) => openSession(stack, interruption, signal);
  const kubernetesVersion = await unpreparedVersion(stack);
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

/** A first run that was refused before anything was made leaves no stack behind; what the person has set for it stays. */
export async function removeIfEmpty({ stack, pulumi }: Session): Promise<void> {
  if (isEmptyState(await readState(stack))) {
    await pulumi.ask(["stack", "rm", "--force", "--yes", "--preserve-config", "--stack", stack.name]);
    say(`Nothing was made, and the stack ${stack.name} is none again.`);
  }
}

/** Refuses to begin where the state could not be written. */
export function requirePlaceForState({ project, backend }: Stack, changes: boolean): void {
  const folders = [project.folder, backend.folder ?? project.folder].filter((folder) => existsSync(folder));
  for (const folder of folders) {
    requireRoomForState(folder);
  }
  if (changes) {
    requireWritable(folders.at(-1) ?? project.folder);
  }
}

/** Clears away what a run has left that was killed or had no room. A run that changes nothing needs no lock. */
export async function mendLeftovers(stack: Stack, changes: boolean): Promise<void> {
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
