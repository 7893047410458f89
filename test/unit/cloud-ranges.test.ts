import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressAt, contains, overlaps, parseRange, rangeOf, whyUnusable } from "../../cloud/ranges";

describe("parseRange", () => {
  test.each([
    ["10.99.0.0/24", { first: 10 * 2 ** 24 + 99 * 2 ** 16, size: 256 }],
    ["0.0.0.0/0", { first: 0, size: 2 ** 32 }],
    ["192.168.7.4/32", { size: 1 }],
  ])("reads %s", (text, expected) => {
    expect(parseRange(text)).toMatchObject(expected);
  });

  test.each([
    ["10.99.0.1/24", "it has host bits set; the range that holds this address is 10.99.0.0/24"],
    ["10.99.0.0", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["10.99.0/24", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["10.99.0.0/33", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["fd00::/64", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["10.99.0.0/-1", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["010.99.0.0/24", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    [" 10.99.0.0/24", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["10.99.0.0/24\n", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["10.99.0.0/024", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["0x0a.99.0.0/24", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["10.99.0.0/16,fd00::/64", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
    ["", "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16"],
  ])("refuses %j", (text, problem) => {
    expect(parseRange(text)).toEqual({ problem });
  });
});

describe("overlaps", () => {
  test.each([
    ["10.0.0.0/8", "10.99.0.0/24", true],
    ["10.99.0.0/24", "10.0.0.0/8", true],
    ["10.99.0.0/24", "10.99.0.0/24", true],
    ["10.99.0.0/24", "10.99.1.0/24", false],
    ["0.0.0.0/0", "255.255.255.255/32", true],
  ])("%s and %s: %s", (left, right, expected) => {
    expect(overlaps(rangeOf(left), rangeOf(right))).toBe(expected);
  });

  test("is the same as sharing an address", () => {
    const range = fc
      .tuple(fc.integer({ min: 24, max: 32 }), fc.integer({ min: 0, max: 255 }))
      .map(([bits, last]) => rangeOf(`10.0.0.${last - (last % 2 ** (32 - bits))}/${bits}`));
    fc.assert(
      fc.property(range, range, (left, right) => {
        const addresses = Array.from({ length: left.size }, (_, offset) => addressAt(left, offset));
        expect(overlaps(left, right)).toBe(addresses.some((address) => contains(right, address)));
      }),
    );
  });
});

describe("a range that nothing can have addresses of is known by what it is for", () => {
  test.each([
    ["0.0.0.0/0", "0.0.0.0/8 means this network itself"],
    ["0.1.0.0/16", "0.0.0.0/8 means this network itself"],
    ["127.0.0.0/8", "127.0.0.0/8 is each computer's loopback"],
    ["126.0.0.0/7", "127.0.0.0/8 is each computer's loopback"],
    ["169.254.0.0/24", "169.254.0.0/16 is link-local"],
    ["224.0.0.0/24", "224.0.0.0/4 is for multicast"],
    ["255.255.255.255/32", "240.0.0.0/4 is reserved"],
  ])("%s", (text, why) => expect(whyUnusable(rangeOf(text))).toContain(why));

  test.each([
    "10.0.0.0/8",
    "100.64.0.0/10",
    "172.17.0.0/16",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "203.0.113.0/24",
    "126.0.0.0/8",
  ])("%s is an ordinary one", (text) => expect(whyUnusable(rangeOf(text))).toBeUndefined());
});

test("addressAt counts over byte borders and refuses what is outside", () => {
  const range = rangeOf("10.98.0.0/15");
  expect(addressAt(range, 10)).toBe("10.98.0.10");
  expect(addressAt(range, 65_536)).toBe("10.99.0.0");
  expect(() => addressAt(range, 131_072)).toThrow("10.98.0.0/15 has 131072 addresses, so none at offset 131072");
});
