/**
 * The stack's lock in a backend that is a folder: one whose process is dead is in the way of every later run.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";
import { type LockHolder, lifeOf } from "../setup/process-life";
import type { StackPlace } from "./stack-place";

interface StackLock extends LockHolder {
  readonly username: string;
}

/**
 * Looks at the locks before a run.
 *
 * @returns whether there are locks, and all of them are dead
 * @throws UserError that says who holds the stack, when somebody may
 */
export async function onlyDeadLocks(place: StackPlace): Promise<boolean> {
  const locks = readLocks(place);
  for (const lock of locks) {
    if ((await lifeOf(lock)) !== "dead") {
      throw new UserError(
        `The stack ${place.fullName} is in use: ${lock.username} has been running Pulumi on it since ` +
          `${new Date(lock.since).toLocaleString()} (process ${lock.pid} on ${lock.hostname}). Wait until that run has ` +
          `ended. If you are sure that it has: pulumi cancel --stack ${place.fullName}, after eval "$(npm run -s env)".`,
      );
    }
  }
  return locks.length > 0;
}

/** Removes the locks, which are known to be dead: `pulumi cancel` does the same, but only where it can read all of them. */
export function removeLocks(place: StackPlace): void {
  for (const file of lockFiles(place)) {
    rmSync(file, { force: true });
    rmSync(`${file}.attrs`, { force: true });
  }
}

function readLocks(place: StackPlace): StackLock[] {
  return lockFiles(place).flatMap((file) => readLock(file) ?? []);
}

function lockFiles({ backendFolder, project, stack }: StackPlace): string[] {
  if (!backendFolder) {
    return [];
  }
  const folder = join(backendFolder, ".pulumi", "locks", "organization", project, stack);
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".json")) : [];
  return files.map((file) => join(folder, file));
}

function readLock(file: string): StackLock | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isPlainObject(content)) {
      return undefined;
    }
    return {
      pid: Number(content.pid),
      hostname: String(content.hostname),
      username: String(content.username),
      since: Date.parse(String(content.timestamp)),
    };
  } catch {
    // Gone since we looked, or cut short by a full disk: a live run's lock is whole from the beginning.
    return existsSync(file) ? { pid: 0, hostname: hostname(), username: "", since: 0 } : undefined;
  }
}
