/**
 * Room on the disk where the engine keeps machines: a machine on a full one fails in ways that do not tell why, so none is
 * begun there.
 */
import { statfs } from "node:fs/promises";
import { UserError } from "../../cloud/errors";
import type { ContainerEngine, EngineName } from "./engine";

/** What a new machine takes at least, with the container images that it unpacks, in MiB. */
const neededMebibytes = 1024;

const question: Readonly<Record<EngineName, string>> = {
  podman: "{{.Store.GraphRoot}}",
  docker: "{{.DockerRootDir}}",
};

/**
 * Refuses to go on where the disk of the engine's store is as good as full.
 * Where that cannot be known, as of an engine in a virtual machine, nothing is said.
 *
 * @throws UserError
 */
export async function requireDiskSpace(engine: ContainerEngine, machine: string): Promise<void> {
  const free = await storeOf(engine)
    .then(async (folder) => ({ folder, ...(await statfs(folder)) }))
    .catch(() => undefined);
  const problem = free && spaceProblem(engine.name, machine, free.folder, (free.bavail * free.bsize) / 1024 ** 2);
  if (problem !== undefined) {
    throw new UserError(problem);
  }
}

/** A sentence where the free space, in MiB, is too little for a machine. Pure. */
export function spaceProblem(name: EngineName, machine: string, folder: string, free: number): string | undefined {
  return free >= neededMebibytes
    ? undefined
    : `Machine ${machine} is not made: the disk with ${folder}, where ${name} keeps machines, has ${Math.floor(free)} MiB ` +
        `left, and a machine takes ${neededMebibytes} MiB. Make room ("${name} system df" tells what can go) and run up again.`;
}

/** The folder of each engine's store, asked for once in a process. */
const stores = new Map<EngineName, Promise<string>>();

function storeOf(engine: ContainerEngine): Promise<string> {
  const known = stores.get(engine.name);
  const asked = known ?? engine.run("asking for its store", ["info", "--format", question[engine.name]]);
  stores.set(engine.name, asked);
  return asked;
}
