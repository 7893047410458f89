/**
 * The person's cache of things that are downloaded or built once: the Pulumi CLI, Kubernetes programs, machine images.
 * An entry is either whole or absent; two processes that want the same one make it once.
 */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { messageOf, UserError } from "../cloud/errors";
import { takeLock } from "./file-lock";
import type { Step } from "./step";

/** Where the cache's folder is, or would be. */
export function cachePlace(): string {
  return process.env.KUBICORN_CACHE || join(userCache(), "pulumi-kubicorn");
}

/** The cache's folder, made if it is not there. */
export function cacheFolder(): string {
  const folder = cachePlace();
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return folder;
  } catch (error) {
    throw unusable(`the cache folder ${folder} cannot be written (${messageOf(error)})`);
  }
}

/** Makes the folder and those above it. Node's own way does that too, but never ends below a folder like /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    return;
  }
  makeFolder(dirname(folder));
  try {
    // Programs of it are run as this user, so nobody else may change them, whatever the umask.
    mkdirSync(folder, { mode: 0o755 });
  } catch (error) {
    // Another process may have made it in between.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}

/** The folder of a finished entry, or `undefined` when it has not been made. */
export function cachedAlready(key: string): string | undefined {
  const folder = join(cachePlace(), key);
  return existsSync(folder) ? folder : undefined;
}

/**
 * The folder of the entry, made first where it is not there.
 *
 * @param key names the entry and everything it depends on: `pulumi-3.274.1`
 * @param make fills an empty folder; what it leaves there when it fails is thrown away
 */
export async function cached(key: string, step: Step, make: (folder: string) => Promise<void>): Promise<string> {
  const whole = join(cacheFolder(), key);
  if (existsSync(whole)) {
    return whole;
  }
  const lock = await takeLock(`${whole}.lock`, step);
  try {
    // Whoever held the lock before may have made it meanwhile.
    if (!existsSync(whole)) {
      await makeAside(whole, make);
    }
    return whole;
  } finally {
    await lock.release();
  }
}

async function makeAside(whole: string, make: (folder: string) => Promise<void>): Promise<void> {
  await removeLeftovers(whole);
  const aside = `${whole}.making-${process.pid}`;
  await mkdir(aside, { recursive: true });
  try {
    await make(aside);
    await rename(aside, whole);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Removes what an earlier process left behind that was killed while it made this entry. */
async function removeLeftovers(whole: string): Promise<void> {
  const folder = join(whole, "..");
  const prefix = `${whole.slice(folder.length + 1)}.making-`;
  const leftovers = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

function userCache(): string {
  const given = process.env.XDG_CACHE_HOME;
  if (given && isAbsolute(given)) {
    return given;
  }
  const home = homeFolder();
  if (!isAbsolute(home)) {
    throw unusable("there is no home folder for the cache (HOME is not set)");
  }
  return join(home, ".cache");
}

function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}

function unusable(what: string): UserError {
  return new UserError(`${what}. Set KUBICORN_CACHE to a folder that can be written and has about 5 GB of room.`);
}
