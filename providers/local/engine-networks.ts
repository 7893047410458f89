/**
 * Networks as the engine tells of them; podman and docker say the same in words of their own.
 */
import { z } from "zod";
import { parseRange } from "../../cloud/ranges";
import { type ContainerEngine, isAbsent } from "./engine";
import type { UsedRange } from "./subnets";

export interface FoundNetwork {
  readonly name: string;
  readonly subnet: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const inspected = z.array(
  z.union([
    z
      .object({
        name: z.string(),
        subnets: z.array(z.object({ subnet: z.string() })).nullish(),
        labels: z.record(z.string(), z.string()).nullish(),
      })
      .transform(({ name, subnets, labels }) => ({ name, subnet: subnets?.[0]?.subnet, labels: labels ?? {} })),
    z
      .object({
        Name: z.string(),
        IPAM: z.object({ Config: z.array(z.object({ Subnet: z.string() })).nullish() }),
        Labels: z.record(z.string(), z.string()).nullish(),
      })
      .transform(({ Name, IPAM, Labels }) => ({ name: Name, subnet: IPAM.Config?.[0]?.Subnet, labels: Labels ?? {} })),
  ]),
);

/** What the engine tells of networks. */
export function parseNetworks(text: string): FoundNetwork[] {
  return inspected.parse(JSON.parse(text));
}

/** The network of exactly that name; the engine's own list is the proof that there is none. */
export async function findNetwork(engine: ContainerEngine, name: string): Promise<FoundNetwork | undefined> {
  const names = await networkNames(engine);
  if (!names.includes(name)) {
    return undefined;
  }
  const text = await engine.run(`looking at network ${name}`, ["network", "inspect", name]).catch(ignoreAbsent);
  return parseNetworks(text || "[]")[0];
}

/** The ranges of all networks of the engine, whoever made them. */
export async function usedByEngine(engine: ContainerEngine): Promise<UsedRange[]> {
  const names = await networkNames(engine);
  const text = names.length === 0 ? "[]" : await engine.run("looking at networks", ["network", "inspect", ...names]);
  return parseNetworks(text).flatMap(({ name, subnet }) => {
    const range = subnet === undefined ? undefined : parseRange(subnet);
    return range === undefined || "problem" in range ? [] : [{ range, user: `network ${name}` }];
  });
}

async function networkNames(engine: ContainerEngine): Promise<string[]> {
  const text = await engine.run("listing networks", ["network", "ls", "--format", "{{.Name}}"]);
  return text.split("\n").filter((line) => line !== "");
}

/** For what may be gone already. */
export function ignoreAbsent(error: unknown): string {
  if (isAbsent(error)) {
    return "";
  }
  throw error;
}
