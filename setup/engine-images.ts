/**
 * Images in the engine's own store: whether one is there, and making one by running a script in a container of another.
 */
import { timeLimits } from "../cloud/time-limits";
import type { ContainerEngine } from "../providers/local/engine";
import type { Abilities } from "../providers/local/probe";
import { withoutProxies } from "../providers/local/seclusion";
import type { Step } from "./step";

/** An empty list is the engine's proof that the image is not there. */
export async function hasImage(engine: ContainerEngine, reference: string): Promise<boolean> {
  const listed = await engine.run("listing images", ["images", "--quiet", "--filter", `reference=${reference}`]);
  return listed.trim() !== "";
}

export interface Building {
  readonly image: string;
  /** Arguments of the engine's run besides those that every privileged container gets here. */
  readonly create: readonly string[];
  /** What runs in the container, as a list. */
  readonly command: readonly string[];
  /** What the command reads from its standard input. */
  readonly stdin?: string;
  /** What it does, for errors. */
  readonly operation: string;
  /** The reference that the container's files become. */
  readonly result: string;
  /** Instructions for the result, as in `ENTRYPOINT ["/sbin/init"]`. */
  readonly changes?: readonly string[];
  readonly step: Step;
}

/** Runs the command in a new container and keeps the container's files as an image. */
export async function inContainer(engine: ContainerEngine, abilities: Abilities, building: Building): Promise<void> {
  const { image, create, command, stdin, operation, result, changes = [], step } = building;
  const name = `kubicorn-build-${result.replace(/^.*:/, "")}`;
  const call = { seconds: timeLimits.imageStage, signal: step.signal };
  // Left behind by a run that was killed.
  await remove(engine, name);
  try {
    const machineLike = ["--privileged", ...(engine.name === "podman" ? ["--systemd=false"] : []), ...abilities.limits];
    const input = stdin === undefined ? [] : ["--interactive"];
    await engine.run(
      operation,
      [
        ...abilities.options,
        ...["run", "--name", name, ...withoutProxies(engine.name), ...machineLike, ...input, ...create],
        ...[image, ...command],
      ],
      { ...call, ...(stdin !== undefined && { stdin }) },
    );
    const asChanges = changes.flatMap((change) => ["--change", change]);
    await engine.run(`keeping the result of ${operation}`, ["commit", ...asChanges, name, result], call);
  } finally {
    await remove(engine, name);
  }
}

async function remove(engine: ContainerEngine, name: string): Promise<void> {
  await engine.run("removing a container", ["rm", "--force", "--volumes", name]).catch(() => undefined);
}
