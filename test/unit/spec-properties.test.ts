/**
 * Any configuration at all is either refused with a path that leads to the fault, or gives names, ranges and labels that
 * every cloud takes.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../cloud/errors";
import { composeName, labelPattern, nameLimits } from "../../cloud/names";
import { overlaps, rangeOf, whyUnusable } from "../../cloud/ranges";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { localProvider } from "../../providers/local";

const environment = { project: "project", stack: "stack" };
const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,28}[a-z0-9])?$/);
/** What people and YAML put where something else is meant. */
const surprising = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    false,
    0,
    -1,
    1.5,
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    " ",
    "2",
  ),
  fc.constantFrom<unknown>(
    "no",
    "~",
    "0x10",
    "1_000",
    "1e3",
    "é",
    "кластер",
    "🚢",
    "a\n",
    "a\u0000b",
    "A.b",
    "-a",
    "a-",
    "__proto__",
  ),
  fc.constantFrom<unknown>(
    "constructor",
    "a".repeat(10_000),
    [],
    {},
    [[]],
    new Date(0),
    JSON.parse('{"__proto__": {"name": 1}}'),
  ),
  fc.anything(),
);
const orSurprising = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual as fc.Arbitrary<unknown>, weight: 9 }, { arbitrary: surprising, weight: 1 });
const range = fc
  .tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.integer({ min: 8, max: 30 }))
  .map(([a, b, c, bits]) => `${a}.${b}.${c}.0/${bits}`);

const spec = fc.record(
  {
    name: orSurprising(label),
    network: orSurprising(
      fc.record(
        { machines: orSurprising(range), pods: orSurprising(range), services: orSurprising(range) },
        { requiredKeys: [] },
      ),
    ),
    controlPlane: orSurprising(
      fc.record({ count: orSurprising(fc.constant(1)), schedulable: orSurprising(fc.boolean()) }, { requiredKeys: [] }),
    ),
    pools: orSurprising(
      fc.array(
        fc.record(
          {
            name: orSurprising(label),
            count: orSurprising(fc.integer({ min: 0, max: 4 })),
            labels: orSurprising(
              fc.dictionary(fc.oneof(label, fc.string()), fc.oneof(label, fc.string()), { maxKeys: 3 }),
            ),
            taints: orSurprising(
              fc.array(fc.record({ key: orSurprising(label), effect: orSurprising(fc.constant("NoSchedule")) }), {
                maxLength: 2,
              }),
            ),
            memoryGiB: orSurprising(fc.integer({ min: 1, max: 64 })),
          },
          { requiredKeys: ["name"] },
        ),
        { maxLength: 4 },
      ),
    ),
  },
  { requiredKeys: ["name"] },
);

/** Whether the path leads to something, or to a place in something where a thing is missing. */
function leadsSomewhere(input: unknown, path: string): boolean {
  const steps = [...path.matchAll(/\[("(?:[^"\\]|\\.)*"|\d+)\]|([\w-]+)/g)].map(([, bracket, word]) =>
    bracket === undefined ? word : JSON.parse(bracket),
  );
  return (
    steps
      .slice(0, -1)
      .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step as string], input) !==
      undefined || steps.length < 2
  );
}

test("any configuration is refused with a path and what is allowed, or every name and range made from it is legal everywhere", () => {
  let accepted = 0;
  fc.assert(
    fc.property(spec, (input) => {
      try {
        expectLegal(input);
        accepted += 1;
      } catch (error) {
        if (!(error instanceof InputError)) {
          throw error;
        }
        expect(error.violations.length).toBeGreaterThan(0);
        for (const { path, allowed } of error.violations) {
          expect(leadsSomewhere(input, path), path).toBe(true);
          expect(allowed.length).toBeGreaterThan(10);
          expect(allowed).not.toMatch(/Invalid|undefined/);
        }
      }
    }),
    { numRuns: 1000 },
  );
  expect(accepted).toBeGreaterThan(20);
});

function expectLegal(input: unknown): void {
  const parsed = parseClusterSpec(input);
  const cluster = localProvider.render(parsed, environment);
  const machines = [...cluster.controlPlane.machines, ...cluster.pools.flatMap((pool) => pool.machines)];
  const names = machines.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(machines.map(({ logicalName }) => logicalName)).size).toBe(machines.length);
  for (const name of [...names, cluster.name]) {
    for (const [kind, limit] of Object.entries(nameLimits)) {
      const composed = composeName([name, "a1b2c3"], limit);
      expect(composed.length, kind).toBeLessThanOrEqual(limit);
      expect(composed, kind).toMatch(labelPattern);
    }
  }
  const ranges = Object.values(parsed.network)
    .filter((text) => text !== undefined)
    .map(rangeOf);
  for (const [index, one] of ranges.entries()) {
    expect(whyUnusable(one)).toBeUndefined();
    expect(ranges.slice(index + 1).some((other) => overlaps(one, other))).toBe(false);
  }
  // The whole model can be put together, and its rows have names of their own.
  const parts = [...localProvider.model(cluster).resources().values()].map(({ name }) => name);
  expect(new Set(parts).size).toBe(parts.length);
}

describe("names of different things never meet, however their parts are cut", () => {
  test("two clusters, pools or machines", () => {
    const place = fc.tuple(label, label, fc.integer({ min: 1, max: 250 }));
    fc.assert(
      fc.property(place, place, fc.constantFrom(...Object.values(nameLimits)), (one, other, limit) => {
        const nameOf = ([cluster, pool, index]: typeof one, identity: string) =>
          composeName([cluster, `${pool}-${index}`, identity], limit);
        // Names on one computer or in one account differ by the cluster's identity, even where "a", "b-c" reads as "a-b", "c".
        expect(nameOf(one, "a1b2c3")).not.toBe(nameOf(other, "d4e5f6"));
        const [[cluster, pool, index], [, otherPool, otherIndex]] = [one, other];
        if (pool !== otherPool || index !== otherIndex) {
          expect(nameOf([cluster, pool, index], "a1b2c3")).not.toBe(nameOf([cluster, otherPool, otherIndex], "a1b2c3"));
        }
      }),
    );
  });
});

test("the order of pools changes nothing that is rendered", () => {
  const pools = fc.uniqueArray(label, { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(pools, (names) => {
      const of = (list: readonly string[]) =>
        localProvider.render(parseClusterSpec({ name: "dev", pools: list.map((name) => ({ name })) }), environment);
      expect(of([...names].reverse())).toEqual(of(names));
    }),
  );
});
