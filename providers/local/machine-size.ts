/**
 * A machine's size as limits of its container: how much of this computer it may use, and changing that while it runs.
 */
import { cpus as processors, totalmem } from "node:os";
import type { Context } from "../../cloud/resource";
import type { ContainerEngine } from "./engine";

export interface MachineSize {
  /** How many processors. @default all */
  readonly cpus?: number | undefined;
  /** How much memory, in GiB. @default all */
  readonly memoryGiB?: number | undefined;
}

/** The difference between two sizes in words; `undefined` where there is none. Pure. */
export function sizeChange(actual: MachineSize, wanted: MachineSize): string | undefined {
  const changes = (["cpus", "memoryGiB"] as const)
    .filter((part) => actual[part] !== wanted[part])
    .map((part) => `${part}: ${actual[part] ?? "no limit"} -> ${wanted[part] ?? "no limit"}`);
  return changes.length === 0 ? undefined : changes.join(", ");
}

/** Arguments of the engine's `create` for that size. */
export function sizeArguments({ cpus, memoryGiB }: MachineSize): string[] {
  return [
    ...(cpus === undefined ? [] : ["--cpus", String(cpus)]),
    ...(memoryGiB === undefined ? [] : ["--memory", mebibytes(memoryGiB)]),
  ];
}

/**
 * Gives a running machine another size.
 *
 * @param actual the size that it has; what is not limited before and after is not touched
 */
export async function resize(
  engine: ContainerEngine,
  container: { readonly id: string; readonly name: string },
  { actual, wanted }: { readonly actual: MachineSize; readonly wanted: MachineSize },
  context: Context,
): Promise<void> {
  const args = resizeArguments(engine.name, actual, wanted);
  if (args.length === 0) {
    return;
  }
  await engine.run(`changing the size of machine ${container.name}`, ["update", ...args, container.id]);
  if (sizeChange(actual, wanted) !== undefined && (await forgetsSizes(engine))) {
    context.warn(
      "podman before 5.1 forgets a size that was changed while a machine ran, once the machine or this computer is " +
        "started anew: then it has the size with which it was made.",
    );
  }
}

/**
 * Arguments of the engine's `update`. Neither podman nor docker takes a limit away again, so where there shall be none it
 * becomes the whole computer.
 */
export function resizeArguments(engine: ContainerEngine["name"], actual: MachineSize, wanted: MachineSize): string[] {
  const limited = (part: keyof MachineSize) => actual[part] !== undefined || wanted[part] !== undefined;
  const memory = wanted.memoryGiB ?? totalmem() / 1024 ** 3;
  return [
    ...(limited("cpus") ? ["--cpus", String(wanted.cpus ?? processors().length)] : []),
    ...(limited("memoryGiB") ? ["--memory", mebibytes(memory)] : []),
    // Docker refuses more memory than what memory and swap may be together, which by default is twice the memory.
    ...(limited("memoryGiB") && engine === "docker" ? ["--memory-swap", mebibytes(2 * memory)] : []),
  ];
}

/** Podman wrote such changes down only from 5.1 on. */
async function forgetsSizes(engine: ContainerEngine): Promise<boolean> {
  const [, major = 0, minor = 0] = (
    /(\d+)\.(\d+)/.exec(await engine.run("asking for its version", ["--version"])) ?? []
  ).map(Number);
  return engine.name === "podman" && (major < 5 || (major === 5 && minor < 1));
}

function mebibytes(gibibytes: number): string {
  return `${Math.floor(gibibytes * 1024)}m`;
}
