/**
 * Waiting and retrying, in one place: every wait has a time limit, a pause, a description and a last reason.
 * Nothing here sleeps blindly; each pause is between two looks at the real thing.
 */
import { DeadlineError, messageOf, TransientError } from "./errors";

/** What one look found: the thing itself, or why it is not there yet. */
export type Look<T> = { readonly found: T } | { readonly pending: string };

export interface Wait {
  /** What is awaited, as in "the API server to answer". */
  readonly description: string;
  /** The time limit, in seconds. */
  readonly seconds: number;
  /** The pause between two looks, in milliseconds. @default 250 */
  readonly pauseMilliseconds?: number;
  /** Ends the wait early: an interruption, or the limit of the whole step. */
  readonly signal?: AbortSignal;
  /** Told each new reason for waiting, once. */
  readonly progress?: (message: string) => void;
}

/**
 * Looks until the look finds something.
 * A {@link TransientError} counts as "not yet"; every other error ends the wait at once.
 *
 * @throws DeadlineError with the last reason, when the time is over or the signal is given
 */
export async function waitUntil<T>(wait: Wait, look: () => Promise<Look<T>>): Promise<T> {
  const deadline = performance.now() + wait.seconds * 1000;
  let reason = "";
  for (;;) {
    throwIfInterrupted(wait, reason);
    const result = await look().catch(asPending);
    if ("found" in result) {
      return result.found;
    }
    if (result.pending !== reason) {
      reason = result.pending;
      wait.progress?.(`waiting for ${wait.description}: ${reason}`);
    }
    const left = deadline - performance.now();
    if (left <= 0) {
      throw new DeadlineError(`waited ${wait.seconds} s for ${wait.description}, in vain; last: ${reason}`);
    }
    await pause(Math.min(left, wait.pauseMilliseconds ?? 250), wait.signal);
  }
}

/**
 * Tries again as long as it fails with a {@link TransientError}; the last of those is thrown when the time is over.
 * Every other error is thrown at once.
 */
export async function retryTransient<T>(wait: Wait, attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + wait.seconds * 1000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TransientError) || wait.signal?.aborted || performance.now() >= deadline) {
        throw error;
      }
      wait.progress?.(`trying again: ${error.message}`);
      await pause(wait.pauseMilliseconds ?? 250, wait.signal);
    }
  }
}

/** Resolves after so many milliseconds, or at once when the signal is given. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}

function throwIfInterrupted(wait: Wait, reason: string): void {
  if (wait.signal?.aborted) {
    const why = messageOf(wait.signal.reason);
    throw new DeadlineError(`stopped waiting for ${wait.description}: ${why}${reason ? `; last: ${reason}` : ""}`);
  }
}

function asPending(error: unknown): { pending: string } {
  if (error instanceof TransientError) {
    return { pending: error.message };
  }
  throw error;
}
