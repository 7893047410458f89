/**
 * The folder for files of a moment: the one that the person has set, or another where that cannot be written.
 */
import { accessSync, constants } from "node:fs";
import { homedir, tmpdir } from "node:os";

/** A folder that can be written, where there is any. */
export function temporaryFolder(): string {
  return [tmpdir(), "/tmp", "/dev/shm", homedir()].find(isWritable) ?? tmpdir();
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
