/**
 * What the command needs of the process that it is and of the folders around it, before anything begins.
 */
import { accessSync, constants, statfsSync } from "node:fs";
import { UserError } from "../cloud/errors";
import { unwritable } from "../setup/unwritable";

/** How much room the state needs beside itself while an operation writes it again and again, in bytes. */
const roomForState = 16 * 1024 * 1024;

/** What is made can be used by whoever made it, whatever umask they have, and is never everybody's to change. */
export function sensibleUmask(umask: number): number {
  return (umask & 0o077) | 0o002;
}

/** Refuses to begin where the state cannot be written at all. */
export function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/**
 * Refuses to begin where the state could not be written to its end: a state cut short is a cluster that nobody knows.
 *
 * @param free how many bytes are free there. @default what the system tells
 */
export function requireRoomForState(folder: string, free = freeBytes(folder)): void {
  if (free !== undefined && free < roomForState) {
    const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
    throw new UserError(
      `The disk of ${folder} is full: ${megabytes(free)} MB are left, and ${megabytes(roomForState)} MB are needed to ` +
        "keep the state. Make room there, then run the same again. Nothing was changed.",
    );
  }
}

/** `undefined` where the system does not tell. */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize, blocks } = statfsSync(folder);
    // File systems without a size of their own, as some shared ones, tell 0 of everything.
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    return undefined;
  }
}
