/**
 * The range of a cluster's machines on this computer: one that no network here has already. The choice is pure.
 */
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { UserError } from "../../cloud/errors";
import { overlaps, type Range, rangeAround, rangeOf } from "../../cloud/ranges";

/** Ranges that are tried where the configuration names none: 10.99.0.0/24, 10.99.1.0/24 and so on. */
export const candidateRanges: readonly string[] = Array.from({ length: 256 }, (_, index) => `10.99.${index}.0/24`);

/** A range that this computer uses, and by what. */
export interface UsedRange {
  readonly range: Range;
  readonly user: string;
}

/**
 * The range for a new network.
 *
 * @param wanted the range that the configuration names, if it names one
 * @throws UserError when that one is used already, or none is free
 */
export function chooseRange(wanted: string | undefined, used: readonly UsedRange[]): string {
  if (wanted !== undefined) {
    const clash = clashOf(wanted, used);
    if (clash !== undefined) {
      throw new UserError(clash);
    }
    return wanted;
  }
  const free = candidateRanges.find((text) => used.every(({ range }) => !overlaps(range, rangeOf(text))));
  if (free === undefined) {
    throw new UserError("No range from 10.99.0.0/24 to 10.99.255.0/24 is free here. Name one in network.machines.");
  }
  return free;
}

/** A sentence on who uses the range, or a part of it; `undefined` where it is free. */
export function clashOf(wanted: string, used: readonly UsedRange[]): string | undefined {
  const clash = used.find(({ range }) => overlaps(range, rangeOf(wanted)));
  return (
    clash &&
    `network.machines: ${wanted} overlaps with ${clash.range.text}, which ${clash.user} of this computer has. ` +
      "Choose another range, or leave it out to have a free one chosen."
  );
}

/** What interfaces and routes of this computer use. */
export async function usedByThisComputer(): Promise<UsedRange[]> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  return [...usedByInterfaces(), ...parseRoutes(routes)];
}

function usedByInterfaces(): UsedRange[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? []).flatMap(({ family, cidr }) =>
      family === "IPv4" && cidr !== null ? [{ range: rangeAround(cidr), user: `interface ${name}` }] : [],
    ),
  );
}

/** The routes of /proc/net/route: addresses and masks are little-endian hexadecimal. The default route uses nothing. */
export function parseRoutes(text: string): UsedRange[] {
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [name, destination = "", , , , , , mask = ""] = line.split(/\s+/);
      const bits = littleEndian(mask)
        .map((byte) => byte.toString(2).replaceAll("0", "").length)
        .reduce((sum, count) => sum + count, 0);
      return name && bits > 0
        ? [{ range: rangeOf(`${littleEndian(destination).join(".")}/${bits}`), user: `a route over ${name}` }]
        : [];
    });
}

function littleEndian(hexadecimal: string): number[] {
  return (hexadecimal.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).reverse();
}
