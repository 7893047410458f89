/**
 * Address ranges in CIDR notation: reading, comparing and counting them. Pure.
 */
import ipaddr from "ipaddr.js";

export interface Range {
  /** As written: `10.99.0.0/24`. */
  readonly text: string;
  /** The first address as a number. */
  readonly first: number;
  /** How many addresses it has. */
  readonly size: number;
}

/** The range, or the reason why the text is none. IPv4 only. */
export function parseRange(text: string): Range | { readonly problem: string } {
  // The library would read /024 as 24, others as 20.
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || /\/0\d/.test(text)) {
    return { problem: "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16" };
  }
  const [address, bits] = ipaddr.IPv4.parseCIDR(text);
  const size = 2 ** (32 - bits);
  const first = toNumber(address.toByteArray());
  if (first % size !== 0) {
    return { problem: `it has host bits set; the range that holds this address is ${rangeAround(text).text}` };
  }
  return { text, first, size };
}

/**
 * Ranges that no machine, pod or Service can have, and what they are for: the IANA IPv4 Special-Purpose Address Registry.
 */
const specialRanges: Readonly<Record<string, string>> = {
  "0.0.0.0/8": "means this network itself",
  "127.0.0.0/8": "is each computer's loopback",
  "169.254.0.0/16": "is link-local, where clouds keep their metadata",
  "224.0.0.0/4": "is for multicast",
  "240.0.0.0/4": "is reserved",
};

/** Why nothing can have addresses of the range; `undefined` where it is an ordinary one. */
export function whyUnusable(range: Range): string | undefined {
  const clash = Object.keys(specialRanges).find((text) => overlaps(range, rangeOf(text)));
  return clash && `another range is needed: ${clash} ${specialRanges[clash]}`;
}

/** The range that an address with a prefix length lies in: 10.99.0.0/24 for 10.99.0.7/24. */
export function rangeAround(text: string): Range {
  const [address, bits] = ipaddr.IPv4.parseCIDR(text);
  const size = 2 ** (32 - bits);
  const value = toNumber(address.toByteArray());
  const first = value - (value % size);
  return { text: `${toAddress(first)}/${bits}`, first, size };
}

/** The range of a text known to be one. */
export function rangeOf(text: string): Range {
  const range = parseRange(text);
  if ("problem" in range) {
    throw new RangeError(`${text}: ${range.problem}`);
  }
  return range;
}

export function overlaps(left: Range, right: Range): boolean {
  return left.first < right.first + right.size && right.first < left.first + left.size;
}

/** The address that many places after the range's first one. */
export function addressAt(range: Range, offset: number): string {
  if (offset < 0 || offset >= range.size) {
    throw new RangeError(`${range.text} has ${range.size} addresses, so none at offset ${offset}`);
  }
  return toAddress(range.first + offset);
}

export function contains(range: Range, address: string): boolean {
  const value = toNumber(ipaddr.IPv4.parse(address).toByteArray());
  return value >= range.first && value < range.first + range.size;
}

function toNumber(bytes: readonly number[]): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

function toAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
