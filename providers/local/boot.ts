/**
 * Making a machine's container: finding one that can serve, or making one at a free place and starting it.
 */
import { RemoteError } from "../../cloud/errors";
import { composeName, nameLimits, shortHash } from "../../cloud/names";
import { Places } from "./addresses";
import { type CreatedMachine, createArguments, labelsOf } from "./arguments";
import { type Container, findContainer } from "./container";
import { requireDiskSpace } from "./disk-space";
import { type ContainerEngine, isConflict } from "./engine";
import { labelNames, requireOurs } from "./labels";
import type { MachineExpected } from "./machine";
import { withFolderInMemory } from "./memory-folder";
import { type Abilities, probeAbilities } from "./probe";
import { removeContainer } from "./removal";
import { seedArchive, seedFolder } from "./seed";
import { makeVolume, removeVolumes } from "./volumes";

export interface Report {
  progress(message: string): void;
  /** Told of the container as soon as it exists. */
  record(container: Container): void;
}

/** All machines that this process makes choose their places here. */
const places = new Places();
const placeTries = 5;

/** The engine's name for a machine's container. */
export function containerName({ name, identity }: Pick<MachineExpected, "name" | "identity">): string {
  return composeName([name, identity], nameLimits.hostName);
}

/**
 * The container of that name, if it can serve: the recorded one, or one that an interrupted run has made from the very
 * same recipe. Any other of ours was made by a run that ended before anything was done on it, and is made anew.
 */
export async function usable(
  engine: ContainerEngine,
  name: string,
  wanted: MachineExpected,
  isRecorded: boolean,
): Promise<Container | undefined> {
  const found = await findContainer(engine, name);
  if (found === undefined) {
    return undefined;
  }
  requireOurs(`Machine ${name}`, found.labels, wanted);
  const isWhole = !found.isHalfRemoved;
  if (isWhole && (isRecorded || (found.started && found.labels[labelNames.recipe] === recipeOf(wanted)))) {
    return found;
  }
  await removeContainer(engine, found);
  return undefined;
}

/** Makes the machine's container and starts it, at the first place that is still free then. */
export async function make(
  engine: ContainerEngine,
  name: string,
  wanted: MachineExpected,
  report: Report,
): Promise<Container> {
  const [abilities] = await Promise.all([probeAbilities(engine, wanted.image), requireDiskSpace(engine, wanted.name)]);
  for (let tries = placeTries; ; tries--) {
    const place = await places.choose(engine, { ...wanted, machine: wanted.name });
    report.progress(`booting at ${place.address}`);
    try {
      const created = { ...wanted, ...place, containerName: name, recipe: recipeOf(wanted) };
      return await boot(engine, created, abilities, report);
    } catch (error) {
      if (!isConflict(error) || tries <= 1) {
        throw error;
      }
      // Another program took the address or a port after we had looked.
      places.refuse(wanted.network, place);
      await forgetHalfMade(engine, name);
      await usable(engine, name, wanted, false);
    }
  }
}

/**
 * An engine killed in the middle of making a container keeps its name, and lists it only among its storage. The name holds
 * our identity, so it is nobody else's.
 */
async function forgetHalfMade(engine: ContainerEngine, name: string): Promise<void> {
  if ((await findContainer(engine, name)) === undefined) {
    await engine.run(`clearing the name ${name}`, ["rm", "--force", name]).catch(() => undefined);
  }
}

/** One try at one place. What was made is recorded before it is started, so that a failure leaves nothing unknown. */
async function boot(
  engine: ContainerEngine,
  created: Omit<CreatedMachine, "volume">,
  abilities: Abilities,
  report: Report,
): Promise<Container> {
  const { name, containerName: container, recipe, userData } = created;
  const volume = await makeVolume(engine, container, created);
  const told = await engine.run(`making machine ${name}`, createArguments({ ...created, volume }, abilities));
  const id = await idOfMade(engine, container, told.trim());
  const made = { id, name: container, running: false, started: false, status: "created", labels: labelsOf(created) };
  report.record(made);
  const seed = await seedArchive(name, `${container}-${recipe}`, userData);
  await withFolderInMemory((temporaryFolder) =>
    engine.run(`giving machine ${name} its user data`, ["cp", "-", `${id}:${seedFolder}`], {
      stdin: seed,
      temporaryFolder,
    }),
  );
  await engine.run(`starting machine ${name}`, [...abilities.options, "start", id]);
  // While it boots: those of a machine that was removed behind our back, and of makings that were cut off.
  await removeVolumes(engine, container, volume);
  return { ...made, running: true, started: true, status: "running" };
}

/** The id of a container that was made just now, also where the engine's answer was cut off: a part of it is no id. */
async function idOfMade(engine: ContainerEngine, name: string, told: string): Promise<string> {
  if (/^\S+$/.test(told) && !/^[0-9a-f]{1,63}$/.test(told)) {
    return told;
  }
  const found = await findContainer(engine, name);
  if (found === undefined) {
    throw new RemoteError(
      `making machine ${name}`,
      engine.name,
      `it gave "${told}" for an id, and lists no such machine`,
    );
  }
  return found.id;
}

/** A hash of all that a machine is made from; which machines stood in its place before it is none of that. */
function recipeOf({ former: _former, ...wanted }: MachineExpected): string {
  return shortHash(JSON.stringify(Object.entries(wanted).sort()));
}

/** Removes what an interrupted run has begun to make under that name, and nobody needs any more. */
export async function removeHalfMade(engine: ContainerEngine, machine: MachineExpected): Promise<void> {
  const name = containerName(machine);
  const found = await findContainer(engine, name);
  if (found !== undefined) {
    requireOurs(`Machine ${name}`, found.labels, machine);
    await removeContainer(engine, found);
  }
}
