/**
 * Whether the range that the configuration names for a network is free on this computer, told before anything is made.
 */
import { findContainerEngine } from "../../setup/container-engine";
import { containerEngine } from "./engine";
import { findNetwork, usedByEngine } from "./engine-networks";
import type { NetworkExpected } from "./network";
import { clashOf, usedByThisComputer } from "./subnets";

/**
 * A sentence on what has the range already.
 *
 * @param own the engine's name for the network itself, which an earlier run may have made; what it uses is its own
 */
export async function foreseeClash(
  range: string,
  engineName: NetworkExpected["engine"] | undefined,
  own: string | undefined,
): Promise<string | undefined> {
  // Which engine it will be is not known before the first image is made.
  const engine = engineName ? containerEngine(engineName) : await findContainerEngine().catch(() => undefined);
  const ownSubnet = engine && own ? (await findNetwork(engine, own))?.subnet : undefined;
  const used = [...(await usedByThisComputer()), ...(engine ? await usedByEngine(engine) : [])];
  return clashOf(
    range,
    used.filter(({ range: one }) => one.text !== ownSubnet),
  );
}
