/**
 * A folder that lies in memory, for what an engine writes for a moment and that no disk should have: podman puts a
 * machine's user data, with its host key, into a temporary file while it copies it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Makes a folder that only this user enters, and removes it after its use. A killed run leaves it until the next boot.
 *
 * @param use is given the folder, or `undefined` where this computer has none in memory
 */
export async function withFolderInMemory<T>(
  use: (folder: string | undefined) => Promise<T>,
  memory = "/dev/shm",
): Promise<T> {
  const folder = await mkdtemp(join(memory, "kubicorn-")).catch(() => undefined);
  try {
    return await use(folder);
  } finally {
    if (folder !== undefined) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
