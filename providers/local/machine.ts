/**
 * local:Machine: a container that boots like a machine, by systemd and cloud-init. After its first start nothing is done
 * in it through the engine: like any machine of a cloud it is reached by its user data and over SSH.
 */
import { z } from "zod";
import { type Condition, unmet } from "../../cloud/conditions";
import { messageOf, UserError } from "../../cloud/errors";
import { composeName, nameLimits, shortHash } from "../../cloud/names";
import { type ApplyContext, type Fact, planByProperty, type Resource } from "../../cloud/resource";
import { Places } from "./addresses";
import { createArguments } from "./arguments";
import { type Container, findContainer } from "./container";
import { type ContainerEngine, containerEngine, engineNames, isAbsent, isConflict } from "./engine";
import { labelNames, requireOurs } from "./labels";
import { loopback } from "./ports";
import { probeAbilities } from "./probe";
import { seedArchive, seedFolder } from "./seed";

const expected = z.strictObject({
  /** Its host name. */
  name: z.string(),
  cluster: z.string(),
  owner: z.string(),
  identity: z.string(),
  role: z.enum(["control-plane", "worker"]),
  engine: z.enum(engineNames),
  /** The machine image, by a reference that never means another one. */
  image: z.string(),
  /** The engine's name for the network. */
  network: z.string(),
  /** The network's range. */
  range: z.string(),
  /** For the first boot only. */
  userData: z.string(),
  /** How many processors it may use. @default all */
  cpus: z.number().optional(),
  /** How much memory it may use, in GiB. @default all */
  memoryGiB: z.number().optional(),
  /** Whether the API server's port is published. */
  publishApi: z.boolean(),
});

export type MachineExpected = z.output<typeof expected>;

export interface MachineActual extends MachineExpected {
  readonly containerName: string;
  /** Its address on the cluster's network. */
  readonly address: string;
  readonly sshHost: string;
  readonly sshPort: number;
  /** 0 where the API server is not published. */
  readonly apiPort: number;
  readonly conditions: readonly Condition[];
}

/** All machines that this process makes choose their places here. */
const places = new Places();
const placeTries = 5;

export const machine: Resource<MachineExpected, MachineActual> = {
  expected,
  secrets: ["userData"],

  async actual({ id, actual }, context) {
    try {
      const found = await findContainer(containerEngine(actual.engine), actual.containerName);
      return found?.id === id ? { ...actual, conditions: conditionsOf(found) } : undefined;
    } catch (error) {
      context.warn(`machine ${actual.name} could not be looked at: ${messageOf(error)}`);
      return { ...actual, conditions: [{ type: "Running", status: "Unknown", message: messageOf(error) }] };
    }
  },

  plan(actual, wanted) {
    const facts = planByProperty(
      {
        name: { replace: "replaceName" },
        identity: { replace: "replaceIdentity" },
        role: { replace: "replaceRole" },
        engine: { replace: "replaceEngine" },
        network: { replace: "replaceNetwork" },
        cpus: { replace: "replaceSize" },
        memoryGiB: { replace: "replaceSize" },
      },
      actual,
      wanted,
    );
    const start: Fact = { name: "startMachine", property: "name", action: "update" };
    return facts.length === 0 && unmet(actual.conditions).length > 0 ? [start] : facts;
  },

  async apply(wanted, recorded, context) {
    const engine = containerEngine(wanted.engine);
    const name = containerName(wanted);
    const existing = await usable(engine, name, wanted, recorded !== undefined);
    if (recorded && existing?.id !== recorded.id) {
      throw new UserError(
        `Machine ${wanted.name} is no longer there. Run refresh, which records that, and then up to make it anew.`,
      );
    }
    const container = existing ?? (await make(engine, name, wanted, context));
    context.made(container.id, asActual(wanted, container));
    if (!container.running) {
      context.progress("starting");
      await engine.run(`starting machine ${wanted.name}`, ["start", container.id]);
    }
    return { id: container.id, actual: asActual(wanted, { ...container, running: true }) };
  },

  async delete({ id, actual }) {
    const engine = containerEngine(actual.engine);
    const found = await findContainer(engine, actual.containerName);
    if (found?.id === id) {
      await removeContainer(engine, found);
    }
  },
};

/** The engine's name for a machine's container. */
export function containerName({ name, identity }: Pick<MachineExpected, "name" | "identity">): string {
  return composeName([name, identity], nameLimits.hostName);
}

/**
 * The container of that name, if it can serve: the recorded one, or one that an interrupted run has made from the very
 * same recipe. Any other of ours was made by a run that ended before anything was done on it, and is made anew.
 */
async function usable(
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
  if (isRecorded || (found.started && found.labels[labelNames.recipe] === recipeOf(wanted))) {
    return found;
  }
  await removeContainer(engine, found);
  return undefined;
}

async function make(
  engine: ContainerEngine,
  name: string,
  wanted: MachineExpected,
  context: ApplyContext<MachineActual>,
): Promise<Container> {
  const abilities = await probeAbilities(engine, wanted.image);
  for (let tries = placeTries; ; tries--) {
    const place = await places.choose(engine, { ...wanted, machine: wanted.name });
    context.progress(`booting at ${place.address}`);
    const recipe = recipeOf(wanted);
    try {
      const created = createArguments({ ...wanted, ...place, containerName: name, recipe }, abilities);
      const id = (await engine.run(`making machine ${wanted.name}`, created)).trim();
      const seed = await seedArchive(wanted.name, `${name}-${recipe}`, wanted.userData);
      await engine.run(`giving machine ${wanted.name} its user data`, ["cp", "-", `${id}:${seedFolder}`], {
        stdin: seed,
      });
      await engine.run(`starting machine ${wanted.name}`, [...abilities.options, "start", id]);
      return (await findContainer(engine, name)) as Container;
    } catch (error) {
      if (!isConflict(error) || tries <= 1) {
        throw error;
      }
      // Another program took the address or a port after we had looked.
      places.forget();
      await usable(engine, name, wanted, false);
    }
  }
}

/** A hash of all that a machine is made from. */
function recipeOf(wanted: MachineExpected): string {
  return shortHash(JSON.stringify(Object.entries(wanted).sort()));
}

async function removeContainer(engine: ContainerEngine, { id, name }: Container): Promise<void> {
  // A machine that is going needs no orderly end: its node has been drained.
  const atOnce = engine.name === "podman" ? ["--time", "0"] : [];
  await engine
    .run(`removing machine ${name}`, ["rm", "--force", "--volumes", ...atOnce, id])
    .catch((error: unknown) => {
      if (!isAbsent(error)) {
        throw error;
      }
    });
}

function asActual(wanted: MachineExpected, container: Container): MachineActual {
  const { labels } = container;
  return {
    ...wanted,
    containerName: container.name,
    address: labels[labelNames.address] ?? "",
    sshHost: loopback,
    sshPort: Number(labels[labelNames.sshPort]),
    apiPort: Number(labels[labelNames.apiPort]),
    conditions: conditionsOf(container),
  };
}

function conditionsOf({ running, status }: Container): Condition[] {
  return [
    running
      ? { type: "Running", status: "True", message: "" }
      : { type: "Running", status: "False", message: `the container engine calls it ${status}` },
  ];
}
