/**
 * How the committed profile, Pulumi.<stack>.yaml, reaches the stack's own file, which Pulumi reads and writes.
 * Two files, since Pulumi writes a salt and whatever `pulumi config set` is told into the stack's: no run changes a
 * tracked file. A change of the profile is carried over, except where the person has set that key themselves.
 */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalText } from "../cloud/json";
import { writeFileAtomically } from "../setup/write-file";
import { profileFile, type Stack, shortName, stackFile } from "./stack";
import { configIn, readText, requireReadable } from "./stack-file";

type Config = Readonly<Record<string, unknown>>;

/**
 * Brings the stack's own file up to date with the profile.
 * Where nothing has changed, which is nearly always, this compares two small files and does no more.
 *
 * @returns what was done, as sentences for the person
 */
export async function applyProfile(stack: Stack): Promise<string[]> {
  const profile = profileFile(stack);
  const own = stackFile(stack);
  // Without a folder of their own, the stacks' files are the profiles.
  if (!existsSync(profile) || profile === own) {
    return [];
  }
  const applied = join(dirname(own), ".applied", `${shortName(stack.name)}.yaml`);
  if (existsSync(own) && readText(applied) === readText(profile)) {
    return [];
  }
  await requireReadable(profile);
  mkdirSync(dirname(applied), { recursive: true });
  const isNew = !existsSync(own);
  if (isNew) {
    await writeFileAtomically(own, readText(profile));
  }
  const kept = isNew ? [] : await carryOver({ profile, applied, own });
  copyFileSync(profile, applied);
  return isNew ? [] : describe(stack, kept);
}

/**
 * The stack's configuration after a change of the profile.
 *
 * @param before the profile as it was applied last
 * @param after the profile as it is now
 * @param own the stack's own configuration
 * @returns the new configuration, and the changed keys whose own value stays
 */
export function mergeConfig(before: Config, after: Config, own: Config): { merged: Config; kept: string[] } {
  const merged: Record<string, unknown> = { ...own };
  const kept: string[] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (same(before[key], after[key]) || same(own[key], after[key])) {
      continue;
    }
    if (!same(own[key], before[key])) {
      kept.push(key);
    } else if (key in after) {
      merged[key] = after[key];
    } else {
      delete merged[key];
    }
  }
  return { merged, kept };
}

async function carryOver(files: { profile: string; applied: string; own: string }): Promise<string[]> {
  const { parseDocument } = await import("yaml");
  const [before, after, present] = await Promise.all([files.applied, files.profile, files.own].map(configIn));
  const { merged, kept } = mergeConfig(before ?? {}, after ?? {}, present ?? {});
  const document = parseDocument(readText(files.own));
  document.set("config", document.createNode(merged));
  await writeFileAtomically(files.own, document.toString());
  return kept;
}

function describe(stack: Stack, kept: readonly string[]): string[] {
  const carried = `Carried the changes of Pulumi.${shortName(stack.name)}.yaml over to ${stackFile(stack)}.`;
  return kept.length === 0 ? [carried] : [`${carried} Kept there, since you had set it yourself: ${kept.join(", ")}.`];
}

/** Pulumi writes plain values back as text: a 2 that nobody has touched comes back as "2". */
function same(left: unknown, right: unknown): boolean {
  const asWritten = (value: unknown) => (["number", "boolean"].includes(typeof value) ? String(value) : value);
  return canonicalText(asWritten(left)) === canonicalText(asWritten(right));
}
