/**
 * local:Network: the bridge that a cluster's machines share.
 */
import { z } from "zod";
import { messageOf } from "../../cloud/errors";
import { staysAsItIs } from "../../cloud/fixed";
import { composeName, nameLimits } from "../../cloud/names";
import { addressAt, rangeOf } from "../../cloud/ranges";
import { type ApplyContext, planByProperty, type Recorded, type Resource } from "../../cloud/resource";
import { type ContainerEngine, containerEngine, engineNames, isConflict } from "./engine";
import { findNetwork, ignoreAbsent, usedByEngine } from "./engine-networks";
import { foreseeClash } from "./foreseen-clash";
import { labelArguments, labelNames, ownershipLabels, requireOurs } from "./labels";
import { bypassPacketFilter } from "./packet-filter";
import { removeUnknownMachines } from "./removal";
import { chooseRange, type UsedRange, usedByThisComputer } from "./subnets";

const expected = z.strictObject({
  cluster: z.string(),
  owner: z.string(),
  identity: z.string(),
  /** The range that the configuration names. @default a free one is chosen */
  range: z.string().optional(),
  /** Ranges that a chosen one must keep away from: the cluster's pods and Services. */
  avoid: z.array(z.string()),
  engine: z.enum(engineNames),
});

export type NetworkExpected = z.output<typeof expected>;

export interface NetworkActual extends NetworkExpected {
  /** The engine's name for it. */
  readonly name: string;
  /** The range that it has. */
  readonly subnet: string;
  /** This computer's own address on it. */
  readonly gateway: string;
}

export const network: Resource<NetworkExpected, NetworkActual> = {
  expected,
  fixed: { range: "network.machines" },
  secrets: [],

  async foresee({ range, cluster, identity, engine }, former) {
    if (range === undefined || range === former?.range) {
      return [];
    }
    const own = cluster && identity ? networkName({ cluster, identity }) : undefined;
    const kept = former && own && engine ? (await findNetwork(containerEngine(engine), own))?.subnet : undefined;
    if (kept !== undefined) {
      return kept === range ? [] : [{ path: "network.machines", value: range, allowed: staysAsItIs(kept) }];
    }
    const clash = await foreseeClash(range, engine, own);
    return clash === undefined ? [] : [{ path: "range", value: range, allowed: clash }];
  },

  async actual(recorded, context) {
    try {
      const found = await findNetwork(containerEngine(recorded.actual.engine), recorded.actual.name);
      return found?.labels[labelNames.identity] === recorded.actual.identity ? recorded.actual : undefined;
    } catch (error) {
      context.warn(`network ${recorded.actual.name} could not be looked at: ${messageOf(error)}`);
      return recorded.actual;
    }
  },

  // Its range is no part of it: every machine would have to go for another one, so that is refused, and one that the
  // configuration does not name, or no longer names, stays what it is.
  plan: (actual, wanted) =>
    planByProperty<NetworkExpected>(
      { identity: { replace: "replaceIdentity" }, engine: { replace: "replaceEngine" } },
      actual,
      wanted,
    ),

  async apply(wanted, recorded, context) {
    const engine = containerEngine(wanted.engine);
    const name = recorded?.actual.name ?? networkName(wanted);
    const existing = await findNetwork(engine, name);
    if (existing) {
      requireOurs(`Network ${name}`, existing.labels, wanted);
    }
    const subnet = existing?.subnet ?? (await makeNetwork(engine, name, wanted, context));
    await bypassPacketFilter((message) => context.warn(message));
    return { id: name, actual: { ...wanted, name, subnet, gateway: addressAt(rangeOf(subnet), 1) } };
  },

  async begun(wanted) {
    const name = networkName(wanted);
    const found = await findNetwork(containerEngine(wanted.engine), name);
    const isOurs = found?.labels[labelNames.identity] === wanted.identity;
    return isOurs ? { id: name, actual: { ...wanted, name, subnet: found.subnet ?? "", gateway: "" } } : undefined;
  },

  async delete({ actual }: Recorded<NetworkActual>) {
    const engine = containerEngine(actual.engine);
    const found = await findNetwork(engine, actual.name);
    if (found !== undefined && found.labels[labelNames.identity] !== actual.identity) {
      return;
    }
    await removeUnknownMachines(engine, actual);
    if (found) {
      await engine.run(`removing network ${actual.name}`, ["network", "rm", actual.name]).catch(ignoreAbsent);
    }
  },
};

/** The engine's name for a cluster's network. */
export function networkName({ cluster, identity }: Pick<NetworkExpected, "cluster" | "identity">): string {
  return composeName([cluster, identity], nameLimits.hostName);
}

async function makeNetwork(
  engine: ContainerEngine,
  name: string,
  wanted: NetworkExpected,
  context: ApplyContext<NetworkActual>,
): Promise<string> {
  const refused: UsedRange[] = wanted.avoid.map((text) => ({ range: rangeOf(text), user: "the cluster itself" }));
  for (;;) {
    const used = [...(await usedByThisComputer()), ...(await usedByEngine(engine)), ...refused];
    const subnet = chooseRange(wanted.range, used);
    context.progress(`making network ${name} with ${subnet}`);
    try {
      await engine.run(`making network ${name}`, networkArguments(name, subnet, wanted));
      return subnet;
    } catch (error) {
      if (!isConflict(error)) {
        throw error;
      }
      // Something that the looks above do not see, or another run in this very moment, has that range.
      refused.push({ range: rangeOf(subnet), user: "another network" });
    }
  }
}

/** Arguments that make a network. */
export function networkArguments(name: string, subnet: string, wanted: NetworkExpected): string[] {
  return [
    ...["network", "create", "--subnet", subnet, "--gateway", addressAt(rangeOf(subnet), 1)],
    // Machines know each other by the API; the engine's own name server would be one more thing to install.
    ...(wanted.engine === "podman" ? ["--disable-dns"] : []),
    ...labelArguments(ownershipLabels(wanted)),
    name,
  ];
}
