/**
 * Writing a file so that a reader sees the old content or the new, and an interruption leaves one of both.
 */
import { randomBytes } from "node:crypto";
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { unwritable } from "./unwritable";

/**
 * Writes the text beside the file and moves it there. A symbolic link stays: what it leads to is written.
 *
 * @param mode the permissions of a new file; a file that is there keeps its own. @default 0o600
 */
export async function writeFileAtomically(file: string, text: string, mode = 0o600): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const present = await stat(target).catch(() => undefined);
  // A name of its own for each write: one process may write the same file twice at once.
  const aside = `${target}.new-${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(aside, text, { mode: present ? present.mode & 0o777 : mode });
    await rename(aside, target);
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    await rm(aside, { force: true });
  }
}
