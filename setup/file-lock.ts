/**
 * A lock that is a file with the process that holds it: of a cache entry that is being made, where it only saves work, and of
 * a stack that is being changed.
 */
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { isPlainObject } from "../cloud/json";
import { pause } from "../cloud/retry";
import { type LockHolder, lifeOf } from "./process-life";
import type { Step } from "./step";

export interface FileLock {
  release(): Promise<void>;
}

/** How often the holder touches its lock, and after how long an untouched one of another computer is dead; milliseconds. */
const heartbeat = 5_000;
const silence = 60_000;

/** Takes the lock; waits, and says so, while another live process has it. */
export async function takeLock(file: string, step: Step): Promise<FileLock> {
  for (let told = false; ; ) {
    step.signal.throwIfAborted();
    const found = await tryLock(file, ({ pid }) =>
      step.say(`taking over from process ${pid}, which ended before it was done`),
    );
    if ("release" in found) {
      return found;
    }
    if (!told) {
      told = true;
      step.say(`waiting for process ${found.pid} on ${found.hostname}, which is making the same (${file})`);
    }
    await pause(200, step.signal);
  }
}

/**
 * Takes the lock where no live process has it.
 *
 * @param onDead told of the holder from whom it is taken over
 * @returns the lock, or who has it
 */
export async function tryLock(
  file: string,
  onDead: (holder: LockHolder) => void = () => undefined,
): Promise<FileLock | LockHolder> {
  for (;;) {
    if (await createLock(file)) {
      return holdLock(file);
    }
    const holder = await readHolder(file);
    if (holder && !(await isDead(file, holder))) {
      return holder;
    }
    if (holder) {
      onDead(holder);
      await removeDeadLock(file, holder);
    }
  }
}

/** Makes the lock with its content in one indivisible act; false when there is one. */
async function createLock(file: string): Promise<boolean> {
  const own = `${file}-${process.pid}-${performance.now()}`;
  const holder: LockHolder = { pid: process.pid, hostname: hostname(), since: Date.now() };
  await writeFile(own, JSON.stringify(holder));
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      return false;
    }
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

function holdLock(file: string): FileLock {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, heartbeat);
  timer.unref();
  return {
    async release() {
      clearInterval(timer);
      await rm(file, { force: true });
    },
  };
}

async function isDead(file: string, holder: LockHolder): Promise<boolean> {
  const life = await lifeOf(holder);
  if (life !== "unknown") {
    return life === "dead";
  }
  const touched = await stat(file).catch(() => undefined);
  return touched !== undefined && Date.now() - touched.mtimeMs > silence;
}

/** Moves the lock away before removing it: of two processes that found it dead, only one can. */
async function removeDeadLock(file: string, dead: LockHolder): Promise<void> {
  const grave = `${file}-dead-${process.pid}`;
  try {
    await rename(file, grave);
  } catch {
    return;
  }
  const buried = await readHolder(grave);
  if (buried && buried.since !== dead.since) {
    // Somebody else took the lock between our look and our move: it goes back.
    await link(grave, file).catch(() => undefined);
  }
  await rm(grave, { force: true });
}

/** Who holds the lock; a lock that cannot be read belongs to a process that ended long ago. */
async function readHolder(file: string): Promise<LockHolder | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) {
    return undefined;
  }
  const none: LockHolder = { pid: 0, hostname: hostname(), since: 0 };
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? { ...none, ...value } : none;
  } catch {
    return none;
  }
}
