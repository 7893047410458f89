/**
 * Which machine images nobody wants any more. All projects of this computer share the engine's store, and each wants the
 * image of its own version of this package: an image goes when no machine uses it and nobody has asked for it in a week.
 */
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerEngine } from "../providers/local/engine";
import { cacheFolder } from "./cache";

/** How long an image is kept that nobody asks for, in milliseconds. */
const keptFor = 7 * 24 * 60 * 60 * 1000;

/** Notes that the image is wanted now. Where that cannot be written, the image may be made again some day, no more. */
export async function noteUse(engine: ContainerEngine, reference: string): Promise<void> {
  try {
    await writeFile(await noteOf(engine, reference), new Date().toISOString());
  } catch {
    return;
  }
}

/** Removes images of the same Kubernetes version that nobody wants; the engine keeps those that machines still use. */
export async function removeUnwanted(engine: ContainerEngine, reference: string): Promise<void> {
  const [repository = "", tag = ""] = reference.split(/:(?=[^:]*$)/);
  const version = tag.replace(/-[0-9a-f]+$/, "");
  const listed = await engine.run("listing images", [
    ...["images", "--filter", `reference=${repository}`, "--format", "{{.Repository}}:{{.Tag}}"],
  ]);
  for (const other of listed.split("\n")) {
    if (other.startsWith(`${repository}:${version}-`) && other !== reference && (await isUnwanted(engine, other))) {
      await engine.run("removing an older image", ["rmi", other]).catch(() => undefined);
      await rm(await noteOf(engine, other), { force: true });
    }
  }
}

/** Of an image without a note nobody knows, so its week begins now. */
async function isUnwanted(engine: ContainerEngine, reference: string): Promise<boolean> {
  const noted = await stat(await noteOf(engine, reference)).catch(() => undefined);
  if (!noted) {
    await noteUse(engine, reference);
    return false;
  }
  return Date.now() - noted.mtimeMs > keptFor;
}

async function noteOf(engine: ContainerEngine, reference: string): Promise<string> {
  const folder = join(cacheFolder(), "images-in-use");
  await mkdir(folder, { recursive: true });
  return join(folder, `${engine.name}-${encodeURIComponent(reference)}`);
}
