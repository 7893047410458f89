/**
 * local:Machine: a container that boots like a machine, by systemd and cloud-init. After its first start nothing is done
 * in it through the engine: like any machine of a cloud it is reached by its user data and over SSH.
 */
import { z } from "zod";
import { cameBack, formerSchema } from "../../bootstrap/succession";
import { type Condition, unmet } from "../../cloud/conditions";
import { messageOf, UserError } from "../../cloud/errors";
import type { Context, Recorded, Resource } from "../../cloud/resource";
import { timeLimits } from "../../cloud/time-limits";
import { containerName, make, removeHalfMade, usable } from "./boot";
import { type Container, findContainer } from "./container";
import { type ContainerEngine, containerEngine, engineNames } from "./engine";
import { labelNames } from "./labels";
import { lacksSsh, planOfMachine, sshCondition } from "./machine-plan";
import { resize } from "./machine-size";
import { loopback } from "./ports";
import { probeAbilities } from "./probe";
import { removeContainer } from "./removal";
import { awaitSshServer } from "./ssh-server";
import { restartMachine, startMachine } from "./start";
import { removeVolumes } from "./volumes";

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
  /** The machines that had its place before it, under other names. */
  former: formerSchema.optional(),
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

export const machine: Resource<MachineExpected, MachineActual> = {
  expected,
  secrets: ["userData"],

  async actual({ id, actual }, context) {
    try {
      const found = await findContainer(containerEngine(actual.engine), actual.containerName);
      return found?.id === id && !found.isHalfRemoved
        ? { ...actual, conditions: await lookClosely(actual, found, context) }
        : undefined;
    } catch (error) {
      context.warn(`machine ${actual.name} could not be looked at: ${messageOf(error)}`);
      return { ...actual, conditions: [{ type: "Running", status: "Unknown", message: messageOf(error) }] };
    }
  },

  plan: planOfMachine,

  // A machine of another name is there, and in service, before this one goes.
  deleteBeforeReplace: (actual, wanted) => actual.name === wanted.name,

  async apply(wanted, recorded, context) {
    const engine = containerEngine(wanted.engine);
    const name = containerName(wanted);
    const existing = await usable(engine, name, wanted, recorded !== undefined);
    if (recorded && existing?.id !== recorded.id) {
      throw new UserError(
        `Machine ${wanted.name} is no longer there. Run refresh, which records that, and then up to make it anew.`,
      );
    }
    const record = (made: Container) => context.made(made.id, asActual(wanted, made));
    const container =
      existing ?? (await make(engine, name, wanted, { progress: (text) => context.progress(text), record }));
    record(container);
    if (!container.running) {
      context.progress("starting");
      const { options } = await probeAbilities(engine, wanted.image);
      await startMachine(engine, container, options);
    } else if (recorded && lacksSsh(recorded.actual)) {
      await restart(engine, container, wanted.image, context);
    }
    if (recorded) {
      await resize(engine, container, { actual: recorded.actual, wanted }, context);
      await removeBegun(engine, recorded, wanted);
    }
    return { id: container.id, actual: asActual(wanted, { ...container, running: true }) };
  },

  async begun(wanted) {
    const found = await findContainer(containerEngine(wanted.engine), containerName(wanted));
    const isOurs = found?.labels[labelNames.identity] === wanted.identity && !found.isHalfRemoved;
    return isOurs ? { id: found.id, actual: asActual(wanted, found) } : undefined;
  },

  async delete({ id, actual }) {
    const engine = containerEngine(actual.engine);
    const found = await findContainer(engine, actual.containerName);
    if (found?.id === id) {
      await removeContainer(engine, found);
    } else if (found === undefined) {
      await removeVolumes(engine, actual.containerName);
    }
  },
};

/** Of a replacement that was begun and given up again, what was made under other names goes. */
async function removeBegun(
  engine: ContainerEngine,
  { actual }: Recorded<MachineActual>,
  wanted: MachineExpected,
): Promise<void> {
  const names = cameBack(actual, wanted) ? (wanted.former?.machines ?? []) : [];
  await Promise.all(names.map((name) => removeHalfMade(engine, { ...wanted, name })));
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

/** What the engine says of a machine, and, where that is good, what its SSH server says. */
async function lookClosely(actual: MachineActual, found: Container, context: Context): Promise<Condition[]> {
  const conditions = conditionsOf(found);
  if (unmet(conditions).length > 0) {
    return conditions;
  }
  try {
    await awaitSshServer(actual.name, actual.sshPort, timeLimits.sshLook, context);
    return conditions;
  } catch (error) {
    context.warn(`machine ${actual.name} runs, but cannot be entered: ${messageOf(error)}`);
    return [...conditions, { type: sshCondition, status: "False", message: "its SSH server does not answer" }];
  }
}

/** Only its owner can mend a machine that cannot be entered, and on every cloud that means a restart. */
async function restart(engine: ContainerEngine, container: Container, image: string, context: Context): Promise<void> {
  context.progress("restarting, since its SSH server did not answer");
  const { options } = await probeAbilities(engine, image);
  await restartMachine(engine, container, options, timeLimits.machineStop);
  const port = Number(container.labels[labelNames.sshPort]);
  await awaitSshServer(container.name, port, timeLimits.sshReady, context);
}
