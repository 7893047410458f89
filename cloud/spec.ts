/**
 * The cluster spec: one cloud-neutral description of a cluster, and the one schema that checks it.
 * Types, validation messages and the JSON Schema for editors all come from here.
 */
import { z } from "zod";
import { InputError, type Violation } from "./errors";
import { isPlainObject } from "./json";
import { labelPattern } from "./names";
import { overlaps, parseRange, type Range } from "./ranges";

/** Kubernetes versions that the machine images are tried with, newest first. */
export const kubernetesVersions = ["1.37.2"] as const;

const name = z
  .string({ error: "a name is expected" })
  .regex(labelPattern, {
    error: "lower-case letters, digits and '-' are allowed, beginning with a letter and not ending with '-'",
  })
  .max(30, { error: "at most 30 characters are allowed, so that the names made from it fit every cloud" });

const range = z
  .string({ error: "an IPv4 range in CIDR notation is expected, as in 10.244.0.0/16" })
  .superRefine((text, context) => {
    const parsed = parseRange(text);
    if ("problem" in parsed) {
      context.addIssue({ code: "custom", message: parsed.problem, input: text });
    }
  });

const count = (least: number, most: number) => {
  const error = `a whole number from ${least} to ${most} is allowed`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};

// Kubernetes: "Labels and Selectors", syntax and character set.
const labelKeyPattern = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const labelKey = z
  .string()
  .regex(labelKeyPattern, { error: "a Kubernetes label key is expected, as in example.com/disk" });
const labelValue = z
  .string({ error: "a text of at most 63 letters, digits, '-', '_' and '.' is expected; quote numbers and booleans" })
  .regex(labelValuePattern, {
    error: "at most 63 letters, digits, '-', '_' and '.' are allowed, beginning and ending with a letter or digit",
  });

const taint = z.strictObject({
  key: labelKey,
  value: labelValue.default(""),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"], {
    error: "NoSchedule, PreferNoSchedule or NoExecute is allowed",
  }),
});

const machineSize = {
  /** Processors of one machine. @default the cloud's own choice; on this computer no limit */
  cpus: z
    .number({ error: "a number of processors above 0 is allowed, as in 2" })
    .positive({ error: "a number of processors above 0 is allowed, as in 2" })
    .optional(),
  /** Memory of one machine, in GiB. @default as for cpus */
  memoryGiB: z
    .number({ error: "a number of GiB from 0.5 on is allowed, as in 4" })
    .min(0.5, { error: "a number of GiB from 0.5 on is allowed, as in 4" })
    .optional(),
};

const controlPlane = z.strictObject({
  /** How many machines run the control plane. */
  count: z.literal(1, { error: "1 is allowed; several control-plane machines are not supported yet" }).default(1),
  /** Whether ordinary pods may run on the control plane. */
  schedulable: z.boolean({ error: "true or false is allowed" }).default(false),
  ...machineSize,
});

const pool = z.strictObject({
  /** Unique in the cluster; part of its machines' names. */
  name: name.refine((text) => text !== "control-plane", { error: "another name is needed; 'control-plane' is taken" }),
  /** How many machines. 0 keeps the pool and no machine. */
  count: count(0, 250).default(1),
  /** Labels of the pool's nodes. */
  labels: z.record(labelKey, labelValue).default({}),
  /** Taints of the pool's nodes. */
  taints: z.array(taint).default([]),
  ...machineSize,
});

const network = z.strictObject({
  /** Addresses of machines. @default a free range, chosen when the network is made and then kept */
  machines: range.optional(),
  /** Addresses of pods. */
  pods: range.default("10.244.0.0/16"),
  /** Addresses of Services. */
  services: range.default("10.96.0.0/16"),
});

/** The cluster spec's schema. Unknown keys are refused. */
export const clusterSpecSchema = z.strictObject({
  /** The cluster's name, also that of its kubeconfig context. */
  name,
  /** Where the cluster runs. */
  cloud: z.enum(["local"], { error: "local is allowed" }).default("local"),
  /** The exact Kubernetes version. */
  kubernetesVersion: z
    .enum(kubernetesVersions, { error: `one of ${kubernetesVersions.join(", ")} is allowed, in quotes` })
    .default(kubernetesVersions[0]),
  network: network.prefault({}),
  controlPlane: controlPlane.prefault({}),
  /** Groups of alike machines that run pods. */
  pools: z.array(pool, { error: "a list of pools is expected" }).default([]),
});

/** A whole spec: every default filled in. */
export type ClusterSpec = z.output<typeof clusterSpecSchema>;
/** A spec as a person writes it: everything but the name may be left out. */
export type ClusterArguments = z.input<typeof clusterSpecSchema>;
export type PoolSpec = ClusterSpec["pools"][number];
export type Taint = PoolSpec["taints"][number];
export type CloudName = ClusterSpec["cloud"];

/**
 * The spec with every default filled in.
 *
 * @throws InputError that lists every violation with its path, its value and what is allowed
 */
export function parseClusterSpec(input: unknown): ClusterSpec {
  const result = clusterSpecSchema.safeParse(input);
  const single = result.success ? [] : violationsOf(result.error, input);
  const violations = [...single, ...crossViolations(input)];
  if (!result.success || violations.length > 0) {
    throw new InputError("The cluster's configuration", violations);
  }
  return result.data;
}

/** The spec's JSON Schema, for editors. */
export function clusterSpecJsonSchema(): unknown {
  return z.toJSONSchema(clusterSpecSchema, { io: "input", unrepresentable: "any" });
}

/** A schema's complaints as violations of the input that it was given. */
export function violationsOf(error: z.ZodError, input: unknown): Violation[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        path: pathText([...issue.path, key]),
        value: valueAt(input, [...issue.path, key]),
        allowed: "there is no such setting",
      }));
    }
    return [{ path: pathText(issue.path), value: valueAt(input, issue.path), allowed: issue.message }];
  });
}

/** A path as it stands in the configuration: `pools[1].zones`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, position) => (typeof key === "number" ? `[${key}]` : `${position > 0 ? "." : ""}${String(key)}`))
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
  const ranges = network.prefault({}).safeParse(whole.network);
  const pools = z.array(pool).default([]).safeParse(whole.pools);
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
  const parsed = Object.entries(ranges).map(([key, text]) => [key, parseRange(text)] as const);
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
