/**
 * Networks as the engine tells of them; podman and docker say the same in words of their own.
 */
import { z } from "zod";
import { parseRange } from "../../cloud/ranges";
import { askAbout, askForList } from "./answers";
import { type ContainerEngine, isAbsent } from "./engine";
import type { UsedRange } from "./subnets";

export interface FoundNetwork {
  readonly name: string;
  readonly subnet: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const labels = z.record(z.string(), z.string()).nullish();

/** Of podman before 4, which shows the configuration of its network plugins. */
const ofPlugins = z
  .object({
    name: z.string(),
    plugins: z.array(
      z.object({
        ipam: z.object({ ranges: z.array(z.array(z.object({ subnet: z.string() }))).nullish() }).nullish(),
      }),
    ),
    args: z.object({ podman_labels: labels }).nullish(),
  })
  .transform(({ name, plugins, args }) => ({
    name,
    subnet: plugins.flatMap(({ ipam }) => ipam?.ranges?.flat() ?? [])[0]?.subnet,
    labels: args?.podman_labels ?? {},
  }));

const ofPodman = z
  .object({ name: z.string(), subnets: z.array(z.object({ subnet: z.string() })).nullish(), labels })
  .transform(({ name, subnets, labels }) => ({ name, subnet: subnets?.[0]?.subnet, labels: labels ?? {} }));

const ofDocker = z
  .object({
    Name: z.string(),
    IPAM: z.object({ Config: z.array(z.object({ Subnet: z.string() })).nullish() }),
    Labels: labels,
  })
  .transform(({ Name, IPAM, Labels }) => ({ name: Name, subnet: IPAM.Config?.[0]?.Subnet, labels: Labels ?? {} }));

const inspected: z.ZodType<FoundNetwork> = z.union([ofPlugins, ofPodman, ofDocker]);

/** The network of exactly that name; the engine's own list is the proof that there is none. */
export async function findNetwork(engine: ContainerEngine, name: string): Promise<FoundNetwork | undefined> {
  const names = await networkNames(engine);
  const [found] = await inspect(
    engine,
    names.filter((each) => each === name),
  );
  return found;
}

/** The ranges of all networks of the engine, whoever made them. */
export async function usedByEngine(engine: ContainerEngine): Promise<UsedRange[]> {
  const found = await inspect(engine, await networkNames(engine));
  return found.flatMap(({ name, subnet }) => {
    const range = subnet === undefined ? undefined : parseRange(subnet);
    return range === undefined || "problem" in range ? [] : [{ range, user: `network ${name}` }];
  });
}

/** The networks of those names that are there still. */
async function inspect(engine: ContainerEngine, names: readonly string[], looks = 3): Promise<FoundNetwork[]> {
  try {
    return await askAbout(engine, "looking at networks", ["network", "inspect"], names, inspected);
  } catch (error) {
    if (!isAbsent(error) || looks <= 1) {
      throw error;
    }
    // One of them went between the listing and the look.
    const left = await networkNames(engine);
    const stillThere = names.filter((name) => left.includes(name));
    return inspect(engine, stillThere, looks - 1);
  }
}

function networkNames(engine: ContainerEngine): Promise<string[]> {
  return askForList(engine, "listing networks", ["network", "ls"], "Name");
}

/** For what may be gone already. */
export function ignoreAbsent(error: unknown): string {
  if (isAbsent(error)) {
    return "";
  }
  throw error;
}
