/**
 * A state file that was cut short, by a full disk or a lost computer: Pulumi cannot read it, and the copies that it keeps
 * beside it may be whole.
 */
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { UserError } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";
import { type Stack, stateFile } from "./stack";

/**
 * Puts the newest whole copy in the place of a state file that is not whole. The damaged one is kept beside it.
 * Nobody else may be working on the stack.
 *
 * @returns what was done, as a sentence for the person; `undefined` where nothing was to do
 * @throws UserError where no copy is whole and the state was not empty: nobody but the person may give up what it had made
 */
export function mendState(stack: Stack): string | undefined {
  const file = stateFile(stack);
  if (!file || !existsSync(file) || isWhole(file)) {
    return undefined;
  }
  const copy = copiesOf(stack, file).find(isWhole);
  if (!copy && knowsThings(file)) {
    throw new UserError(
      `The state of the stack ${stack.name} was cut short, and no copy of it is whole: ${file}. What it had made is there ` +
        "still. Bring the file back from a copy of your own; or give it up: remove what it had made by hand (on this " +
        "computer: the containers, volumes and networks with the label kubicorn.io/cluster) and move the file away.",
    );
  }
  const damaged = `${file}.damaged-${Date.now()}`;
  renameSync(file, damaged);
  if (!copy) {
    return `The state of the stack ${stack.name} was cut short before it held anything, so it begins anew.`;
  }
  const age = statSync(copy).mtime.toLocaleString();
  copyFileSync(copy, file);
  return (
    `The state of the stack ${stack.name} was cut short; the copy of ${age} is in its place. What was made after it is ` +
    `found again by its name; run refresh where something was removed after it. The damaged file is ${damaged}.`
  );
}

/** The copies that Pulumi keeps: one before each write, and one after each operation. The newest first. */
function copiesOf({ backend, project }: Stack, file: string): string[] {
  const name = file.slice(dirname(file).length + 1);
  const backups = join(backend.folder ?? "", ".pulumi", "backups", project.name, name.replace(/\.json(\.gz)?$/, ""));
  const kept = existsSync(backups) ? readdirSync(backups).map((backup) => join(backups, backup)) : [];
  return [`${file}.bak`, ...kept]
    .filter((copy) => /\.json(\.gz)?(\.bak)?$/.test(copy) && isCompressed(copy) === isCompressed(file))
    .filter((copy) => existsSync(copy))
    .sort((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs);
}

function isCompressed(file: string): boolean {
  return /\.gz(\.bak)?$/.test(file);
}

/** Whether the file, damaged as it is, still names things that were made. One that cannot be unpacked may. */
function knowsThings(file: string): boolean {
  const content = readFileSync(file);
  return isCompressed(file) ? content.length > 0 : content.includes('"urn"');
}

function isWhole(file: string): boolean {
  const content = readFileSync(file);
  try {
    const value: unknown = JSON.parse(String(isCompressed(file) ? gunzipSync(content) : content));
    return isPlainObject(value) && isPlainObject(value.checkpoint);
  } catch {
    return false;
  }
}
