/**
 * A state that was cut short, by a full disk, a lost computer or a killed run: Pulumi cannot read it, and the copies that it
 * keeps beside it may be whole.
 */
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { UserError } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";
import { type StackPlace, stateFileOf } from "./stack-place";

/**
 * Puts the newest whole copy in the place of a state file that is not whole. The damaged one is kept beside it.
 * Nobody else may be working on the stack.
 *
 * @returns what was done, as a sentence for the person; `undefined` where nothing was to do
 * @throws UserError where no copy is whole and the state was not empty: nobody but the person may give up what it had made
 */
export function mendState(place: StackPlace): string | undefined {
  const file = stateFileOf(place);
  if (!file || !existsSync(file)) {
    return undefined;
  }
  dropCutAttributes(file);
  if (isWhole(file)) {
    return undefined;
  }
  const copy = copiesOf(place, file).find(isWhole);
  if (!copy && knowsThings(file)) {
    throw new UserError(
      `The state of the stack ${place.fullName} was cut short, and no copy of it is whole: ${file}. What it had made is there ` +
        "still. Bring the file back from a copy of your own; or give it up: remove what it had made by hand (on this " +
        "computer: the containers, volumes and networks with the label kubicorn.io/cluster) and move the file away.",
    );
  }
  const damaged = `${file}.damaged-${Date.now()}`;
  renameSync(file, damaged);
  if (!copy) {
    return `The state of the stack ${place.fullName} was cut short before it held anything, so it begins anew.`;
  }
  const age = statSync(copy).mtime.toLocaleString();
  copyFileSync(copy, file);
  return (
    `The state of the stack ${place.fullName} was cut short; the copy of ${age} is in its place. What was made after it is ` +
    `found again by its name; run refresh where something was removed after it. The damaged file is ${damaged}.`
  );
}

/**
 * Removes the attributes beside the state where they are cut short. Pulumi's backend writes them without a rename before it
 * puts the state in its place (gocloud.dev's fileblob); it reads no state beside which they are not whole, and needs none.
 */
function dropCutAttributes(file: string): void {
  const attributes = `${file}.attrs`;
  if (existsSync(attributes) && !isJson(readFileSync(attributes))) {
    rmSync(attributes, { force: true });
  }
}

function isJson(content: Buffer): boolean {
  try {
    return isPlainObject(JSON.parse(String(content)));
  } catch {
    return false;
  }
}

/** The copies that Pulumi keeps: one before each write, and one after each operation. The newest first. */
function copiesOf({ backendFolder = "", project, stack }: StackPlace, file: string): string[] {
  const backups = join(backendFolder, ".pulumi", "backups", project, stack);
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
