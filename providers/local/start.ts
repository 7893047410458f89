/**
 * Starting a machine that is there and does not run: stopped, paused, or lost by its engine.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, UserError } from "../../cloud/errors";
import { type Container, findContainer } from "./container";
import { type ContainerEngine, isConflict } from "./engine";

/** Where podman reads how containers ended, one file each. */
const podmanEnds = "/run/libpod/exits";

/**
 * Starts the machine, whatever state its container is in.
 *
 * @param options of the engine's command, before the verb
 * @throws UserError where something else has its port or its address
 */
export async function startMachine(
  engine: ContainerEngine,
  container: Container,
  options: readonly string[],
): Promise<void> {
  const { id, name, status } = container;
  if (status === "paused") {
    await engine.run(`waking machine ${name}`, [...options, "unpause", id]);
    return;
  }
  if (status === "stopping") {
    await noteItsEnd(engine, container);
  }
  await engine.run(`starting machine ${name}`, [...options, "start", id]).catch((error: unknown) => {
    throw isConflict(error) ? placeTaken(engine, name, error) : error;
  });
}

/**
 * Restarts a machine that runs.
 *
 * @param seconds how long it is given to end in order
 */
export async function restartMachine(
  engine: ContainerEngine,
  { id, name }: Container,
  options: readonly string[],
  seconds: number,
): Promise<void> {
  try {
    await engine.run(`restarting machine ${name}`, [...options, "restart", "--time", String(seconds), id]);
  } catch (error) {
    const found = await findContainer(engine, name);
    if (found?.id !== id || found.running) {
      throw error;
    }
    await startMachine(engine, found, options);
  }
}

/** A machine has its address and its ports for life: others know it by them. */
function placeTaken(engine: ContainerEngine, name: string, error: unknown): UserError {
  return new UserError(
    `Machine ${name} cannot be started, since another program has taken its port or its address meanwhile: ` +
      `${messageOf(error)}\nEnd that program and run up again. Where it has to stay, remove the machine ` +
      `("${engine.name} rm --force ${name}"); then refresh and up make a new one at another place.`,
  );
}

/**
 * Podman learns of a machine's end from a process that watches it, conmon. Where that was killed, podman waits for ever, and
 * the machine could not be started before the next start of this computer; so it is told what its watcher would have told.
 */
async function noteItsEnd(engine: ContainerEngine, { id, name }: Container): Promise<void> {
  const form = "{{.State.ConmonPid}} {{.State.Pid}}";
  const told = await engine.run(`looking at machine ${name}`, ["inspect", "--type", "container", "--format", form, id]);
  const [watcher, first] = told.split(" ").map(Number);
  if (!watcher || !first || existsSync(`/proc/${watcher}`) || existsSync(`/proc/${first}`)) {
    return;
  }
  if (existsSync(podmanEnds)) {
    // Without an end of line, which podman cannot read. 137 is the exit code of what was killed.
    await writeFile(join(podmanEnds, id), "137");
  }
}
