/**
 * The folder for files of a moment: the one that the person has set, or another where that cannot be written.
 */
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import { UserError } from "../cloud/errors";

/** A folder that can be written; Pulumi and its plugins talk to each other by files there. */
export function temporaryFolder(candidates = [tmpdir(), "/tmp", "/var/tmp", "/dev/shm"]): string {
  const usable = candidates.find(isWritable);
  if (usable === undefined) {
    throw new UserError(
      `No folder for temporary files can be written: looked at ${candidates.join(", ")}. ` +
        "Set TMPDIR to one that is there and can be written. Nothing was changed.",
    );
  }
  return usable;
}

/** A relative path would be another folder for every program that is started elsewhere. */
function isWritable(folder: string): boolean {
  if (!isAbsolute(folder)) {
    return false;
  }
  try {
    accessSync(`${folder}/`, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
