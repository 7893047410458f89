/**
 * Where this package's own files are.
 * The code runs from the sources and from a bundle in dist/, so paths start at the folder of package.json.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

let known: string | undefined;

/** The folder of this package's package.json. */
export function packageRoot(): string {
  known ??= searchUpward(__dirname);
  return known;
}

function searchUpward(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file) && /"name":\s*"pulumi-kubicorn"/.test(readFileSync(file, "utf8"))) {
      return folder;
    }
    if (folder === dirname(folder)) {
      throw new Error(`the package.json of pulumi-kubicorn is in no folder above ${start}: is the package whole?`);
    }
  }
}
