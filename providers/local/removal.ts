/**
 * Removing machines' containers with what belongs to them, also what a killed run or a killed engine has left of them.
 */
import { type Container, containersOf, findContainer } from "./container";
import type { ContainerEngine } from "./engine";
import { labelNames } from "./labels";
import { removeAllVolumes, removeVolumes } from "./volumes";

/** Removes a machine's container and its volume. Already gone is success. */
export async function removeContainer(engine: ContainerEngine, { id, name }: Container): Promise<void> {
  // A machine that is going needs no orderly end: its node has been drained.
  const atOnce = engine.name === "podman" ? ["--time", "0"] : [];
  await engine
    .run(`removing machine ${name}`, ["rm", "--force", "--volumes", ...atOnce, id])
    .catch(async (error: unknown) => {
      // In whatever words the engine says that it went meanwhile, its list tells.
      if ((await findContainer(engine, name))?.id === id) {
        throw error;
      }
    });
  await removeVolumes(engine, name);
}

/**
 * Removes what podman keeps of containers in whose making it was killed: storage under a name, without labels. Such a name
 * ends with the cluster's identity, which is nobody else's.
 */
async function removeHalfMadeContainers(engine: ContainerEngine, identity: string): Promise<void> {
  if (engine.name !== "podman") {
    return;
  }
  const listed = await engine.run("listing half-made machines", [
    ...["ps", "--all", "--external", "--format", "{{.Names}} {{.Status}}"],
  ]);
  const names = listed.split("\n").flatMap((line) => new RegExp(`^(\\S+-${identity}) Storage$`).exec(line)?.[1] ?? []);
  await Promise.all(names.map((name) => engine.run(`removing half-made machine ${name}`, ["rm", "--force", name])));
}

/**
 * Removes machines of the network that no state knows, with all that belongs to them: left by a run that was killed just
 * after making them, or in the middle of it.
 */
export async function removeUnknownMachines(
  engine: ContainerEngine,
  { name, identity }: { name: string; identity: string },
): Promise<void> {
  const left = await containersOf(engine, name);
  const ours = left.filter(({ labels }) => labels[labelNames.identity] === identity);
  await Promise.all(ours.map((container) => removeContainer(engine, container)));
  await removeHalfMadeContainers(engine, identity);
  await removeAllVolumes(engine, identity);
}
