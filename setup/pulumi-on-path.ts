/**
 * The Pulumi CLI that the person has installed, if it can be used.
 * Asking it for its version takes a tenth of a second, so the answer is remembered for that very file.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, sep } from "node:path";
import { isPlainObject } from "../cloud/json";
import type { PulumiCli } from "./pulumi-cli";

/** The oldest CLI that is accepted: the one that came out with the SDK in use. */
const oldest = [3, 248, 0] as const;
const languageHost = "pulumi-language-nodejs";

/**
 * The CLI on PATH, where it is new enough and has its Node.js language host.
 *
 * @param cache our cache folder: remembers the version, and a CLI inside it is not the person's
 */
export async function pulumiOnPath(cache: string): Promise<PulumiCli | undefined> {
  const program = findOnPath("pulumi");
  if (!program || (existsSync(cache) && realpathSync(program).startsWith(realpathSync(cache) + sep))) {
    return undefined;
  }
  const folder = dirname(program);
  const complete = existsSync(join(dirname(realpathSync(program)), languageHost)) || findOnPath(languageHost);
  return complete && isNewEnoughPulumi(await versionOf(program, cache)) ? { folder, built: false } : undefined;
}

/** Whether "v3.274.1" tells of a CLI that is new enough. */
export function isNewEnoughPulumi(version: string): boolean {
  const found = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version.trim())?.slice(1).map(Number);
  if (!found) {
    return false;
  }
  const difference = oldest.map((part, index) => (found[index] ?? 0) - part).find((part) => part !== 0);
  return (difference ?? 0) >= 0;
}

function findOnPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

async function versionOf(program: string, cache: string): Promise<string> {
  const { size, mtimeMs } = statSync(program);
  const identity = `${realpathSync(program)} ${size} ${mtimeMs}`;
  const memory = join(cache, "pulumi-on-path.json");
  const remembered = remember(memory);
  if (remembered.identity === identity) {
    return String(remembered.version);
  }
  const { execa } = await import("execa");
  const { stdout } = await execa(program, ["version"], { reject: false, env: { PULUMI_SKIP_UPDATE_CHECK: "true" } });
  // What cannot be remembered is asked for again.
  await writeFile(memory, JSON.stringify({ identity, version: stdout })).catch(() => undefined);
  return String(stdout);
}

function remember(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}
