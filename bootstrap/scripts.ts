/**
 * The scripts and units that machines get, read from bootstrap/scripts as they are.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../setup/package-root";

const known = new Map<string, string>();

/** The text of a file in bootstrap/scripts, with line ends of Unix even where a checkout has others. */
export function scriptText(name: string): string {
  let text = known.get(name);
  if (text === undefined) {
    text = readFileSync(join(packageRoot(), "bootstrap", "scripts", name), "utf8").replaceAll("\r\n", "\n");
    known.set(name, text);
  }
  return text;
}
