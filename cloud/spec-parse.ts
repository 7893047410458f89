/**
 * Checking a spec: every violation at once, with its path, its value and what is allowed there. Pure.
 */
import { z } from "zod";
import { InputError, type Violation } from "./errors";
import { isPlainObject } from "./json";
import { overlaps, parseRange, type Range } from "./ranges";
import { similarSetting } from "./similar-setting";
import { type ClusterSpec, clusterSpecSchema, networkSchema, type PoolSpec, poolSchema } from "./spec";

/**
 * The spec with every default filled in.
 *
 * @throws InputError that lists every violation with its path, its value and what is allowed
 */
export function parseClusterSpec(input: unknown): ClusterSpec {
  const result = clusterSpecSchema.safeParse(input);
  const single = result.success ? [] : violationsOf(result.error, input, similarSetting);
  const violations = [...single, ...crossViolations(input)];
  if (!result.success || violations.length > 0) {
    throw new InputError("The cluster's configuration", violations);
  }
  return result.data;
}

/**
 * A schema's complaints as violations of the input that it was given.
 *
 * @param similar the name that an unknown one, the last of the path, most likely means
 */
export function violationsOf(
  error: z.ZodError,
  input: unknown,
  similar: (path: readonly PropertyKey[]) => string | undefined = () => undefined,
): Violation[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        const meant = similar(path);
        const allowed = `there is no such setting${meant === undefined ? "" : `; did you mean ${meant}?`}`;
        return { path: pathText(path), value: valueAt(input, path), allowed };
      });
    }
    // Of a key that is not allowed, the key's own complaint says why.
    const allowed = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return [{ path: pathText(issue.path), value: valueAt(input, issue.path), allowed }];
  });
}

/** A path as it stands in the configuration: `pools[1].zones`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, position) => {
      if (typeof key === "number") {
        return `[${key}]`;
      }
      const name = String(key);
      return /^[\w-]+$/.test(name) ? `${position > 0 ? "." : ""}${name}` : `[${JSON.stringify(name)}]`;
    })
    .join("");
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

/** What no single value can tell: double names, ranges that overlap or are too small. Looks at whatever is well-formed. */
function crossViolations(input: unknown): Violation[] {
  const whole = isPlainObject(input) ? input : {};
  const ranges = networkSchema.prefault({}).safeParse(whole.network);
  const pools = z.array(poolSchema).default([]).safeParse(whole.pools);
  return [
    ...doublePoolNames(whole.pools),
    ...(ranges.success ? rangeViolations(ranges.data, pools.success ? pools.data : []) : []),
  ];
}

function doublePoolNames(pools: unknown): Violation[] {
  const names = Array.isArray(pools) ? pools.map((item: unknown) => (isPlainObject(item) ? item.name : undefined)) : [];
  return names.flatMap((poolName, index) => {
    const first = names.indexOf(poolName);
    const allowed = `each pool needs a name of its own, and pools[${first}] has this one`;
    return typeof poolName !== "string" || first === index
      ? []
      : [{ path: `pools[${index}].name`, value: poolName, allowed }];
  });
}

function rangeViolations(ranges: ClusterSpec["network"], pools: readonly PoolSpec[]): Violation[] {
  // A program may also write a setting that it leaves open.
  const written = Object.entries(ranges).filter(([, text]) => text !== undefined);
  const parsed = written.map(([key, text]) => [key, parseRange(text)] as const);
  const known = parsed.filter((entry): entry is [string, Range] => !("problem" in entry[1]));
  const violations: Violation[] = known.flatMap(([key, one], position) =>
    known
      .slice(0, position)
      .filter(([, other]) => overlaps(one, other))
      .map(([otherKey, other]) => ({
        path: `network.${key}`,
        value: one.text,
        allowed: `it must not overlap with network.${otherKey} (${other.text})`,
      })),
  );
  violations.push(...tooLarge(known));
  const machineCount = pools.reduce((sum, { count: size }) => sum + size, 1);
  for (const [key, one] of known) {
    const least = leastSize(key, machineCount);
    if (one.size < least) {
      const bits = 32 - Math.ceil(Math.log2(least));
      violations.push({
        path: `network.${key}`,
        value: one.text,
        allowed: `${machineCount} machines need at least a /${bits}`,
      });
    }
  }
  return violations;
}

/** The addresses a range needs: machines also want a gateway, an API address and spare ones; each node takes a /24 of pods. */
function leastSize(range: string, machineCount: number): number {
  const needs: Record<string, number> = { machines: machineCount + 12, pods: machineCount * 256, services: 256 };
  return needs[range] ?? 0;
}

/** The most that the API server and the controller manager take: "mask must be >= 12", "cannot be 16 more than". */
function tooLarge(ranges: readonly [string, Range][]): Violation[] {
  const most: Record<string, number> = { services: 12, pods: 8 };
  return ranges.flatMap(([key, { text, size }]) => {
    const bits = most[key];
    return bits === undefined || size <= 2 ** (32 - bits)
      ? []
      : [{ path: `network.${key}`, value: text, allowed: `a range of at most a /${bits} is allowed` }];
  });
}
