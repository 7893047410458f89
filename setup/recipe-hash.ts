/**
 * A hash of files: what is made from them is made again exactly when one of them changes.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Eight hexadecimal digits that stand for the files' names and contents and for the words.
 *
 * @param paths files, or folders of which every file counts
 */
export async function recipeHash(paths: readonly string[], words: readonly string[] = []): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(words));
  for (const path of paths) {
    for (const [name, file] of await filesOf(path)) {
      const content = await readFile(file);
      hash.update(JSON.stringify([name, content.length])).update(content);
    }
  }
  return hash.digest("hex").slice(0, 8);
}

/** The files by their names inside the folder, in an order that does not depend on the file system. */
async function filesOf(path: string): Promise<[string, string][]> {
  if ((await stat(path)).isFile()) {
    return [["", path]];
  }
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file): [string, string] => [file.slice(path.length + 1), file])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
