/**
 * Containers as the engine lists them, by exact name or by labels.
 */
import { z } from "zod";
import { askAbout, askForList } from "./answers";
import { type ContainerEngine, isAbsent } from "./engine";
import { labelNames } from "./labels";

const inspected = z
  .object({
    Id: z.string(),
    Name: z.string(),
    State: z.object({ Running: z.boolean(), Status: z.string() }),
    Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
  })
  .transform(
    ({ Id, Name, State, Config }): Container => ({
      id: Id,
      name: Name.replace(/^\//, ""),
      // Docker calls one that is paused running, too.
      running: State.Running && State.Status !== "paused",
      started: State.Status !== "created" && State.Status !== "configured",
      status: State.Status,
      labels: Config.Labels ?? {},
    }),
  );

/** What podman's list keeps of a container that it was killed while removing. */
const halfRemoved = z
  .object({ Id: z.string(), Names: z.tuple([z.string()]), Labels: z.record(z.string(), z.string()).nullish() })
  .transform(
    ({ Id, Names: [name], Labels }): Container => ({
      id: Id,
      name,
      running: false,
      started: false,
      status: "half removed",
      isHalfRemoved: true,
      labels: Labels ?? {},
    }),
  );

export interface Container {
  readonly id: string;
  readonly name: string;
  readonly running: boolean;
  /** False while it was made and never started. */
  readonly started: boolean;
  /** The engine's word for its state, as in `exited`. */
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  /** True where nothing is left of it but the engine's entry, which a removal of it takes away. */
  readonly isHalfRemoved?: true;
}

/** The container of exactly that name; the engine's empty list is the proof that there is none. */
export async function findContainer(engine: ContainerEngine, name: string): Promise<Container | undefined> {
  const found = await listContainers(engine, `name=^${name}$`);
  return found.find((container) => container.name === name);
}

/** All containers of a network that this package made, running or not. */
export function containersOf(engine: ContainerEngine, network: string): Promise<Container[]> {
  return listContainers(engine, `label=${labelNames.network}=${network}`);
}

/** All containers that this package made, running or not. */
export function allContainers(engine: ContainerEngine): Promise<Container[]> {
  return listContainers(engine, `label=${labelNames.cluster}`);
}

async function listContainers(engine: ContainerEngine, filter: string, looks = 3): Promise<Container[]> {
  const list = ["ps", "--all", "--no-trunc", "--filter", filter];
  const ids = await askForList(engine, "listing machines", list, "ID");
  try {
    return await askAbout(engine, "looking at machines", ["inspect", "--type", "container"], ids, inspected);
  } catch (error) {
    if (!isAbsent(error)) {
      throw error;
    }
    // One of them went between the listing and the look; the next listing no longer has it.
    if (looks > 1) {
      return listContainers(engine, filter, looks - 1);
    }
    return lookOneByOne(engine, ids);
  }
}

/** Looks at each for itself: one that podman lists and cannot tell of is one that it was killed while removing. */
async function lookOneByOne(engine: ContainerEngine, ids: readonly string[]): Promise<Container[]> {
  const look = (id: string) =>
    askAbout(engine, "looking at a machine", ["inspect", "--type", "container"], [id], inspected).catch(
      (error: unknown) => {
        if (!isAbsent(error) || engine.name !== "podman") {
          throw error;
        }
        const list = ["ps", "--all", "--no-trunc", "--format", "json", "--filter"];
        return askAbout(engine, "looking at a half removed machine", list, [`id=${id}`], halfRemoved);
      },
    );
  return (await Promise.all(ids.map(look))).flat();
}
