/**
 * The cluster spec: one cloud-neutral description of a cluster, and the one schema that checks it.
 * Types, validation messages, the JSON Schema for editors and the reference page all come from here.
 */
import { z } from "zod";
import { kubeletSettingsSchema } from "./kubelet-settings";
import { labelPattern } from "./names";
import { reservedLabel, reservedTaint } from "./node-marks";
import { parseRange, whyUnusable } from "./ranges";
import { timeLimits } from "./time-limits";

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
    const problem = "problem" in parsed ? parsed.problem : whyUnusable(parsed);
    if (problem !== undefined) {
      context.addIssue({ code: "custom", message: problem, input: text });
    }
  });

/** Settings by name. Whatever else stands there is refused with an example. */
const settings = <Shape extends z.ZodRawShape>(shape: Shape, example: string) =>
  z.strictObject(shape, {
    error: ({ code }) => (code === "invalid_type" ? `settings by name are expected, as in ${example}` : undefined),
  });

const count = (least: number, most: number) => {
  const error = `a whole number from ${least} to ${most} is allowed`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};

// Kubernetes: "Labels and Selectors", syntax and character set.
const labelKeyPattern =
  /^((?=.{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const labelKeyError = "a Kubernetes label key is expected, as in example.com/disk";
const labelKey = z.string({ error: labelKeyError }).regex(labelKeyPattern, { error: labelKeyError });
const labelValue = z
  .string({ error: "a text of at most 63 letters, digits, '-', '_' and '.' is expected; quote numbers and booleans" })
  .regex(labelValuePattern, {
    error: "at most 63 letters, digits, '-', '_' and '.' are allowed, beginning and ending with a letter or digit",
  });

/** A key that is well-formed and not somebody else's. */
const ownKey = (reasonOf: (key: string) => string | undefined) =>
  labelKey.superRefine((key, context) => {
    const reason = reasonOf(key);
    if (reason !== undefined) {
      context.addIssue({ code: "custom", message: `another key is needed: ${reason}`, input: key });
    }
  });

const taint = settings(
  {
    key: ownKey(reservedTaint).describe("The taint's key."),
    value: labelValue.default("").describe("Its value."),
    effect: z
      .enum(["NoSchedule", "PreferNoSchedule", "NoExecute"], {
        error: "NoSchedule, PreferNoSchedule or NoExecute is allowed",
      })
      .describe(
        "What it does to pods that do not tolerate it. NoExecute also ends those that run there, without regard to budgets.",
      ),
  },
  "{ key: gpu, effect: NoSchedule }",
);

// Below the least no machine boots in time, and the most is beyond every machine that there is: a slip of the finger.
const cpusError = "a number of processors from 0.1 to 1024 is allowed, as in 2";
const memoryError = "a number of GiB from 0.5 to 32768 is allowed, as in 4";
const machineSize = {
  cpus: z
    .number({ error: cpusError })
    .min(0.1, { error: cpusError })
    .max(1024, { error: cpusError })
    .optional()
    .describe("Processors of one machine. Left out: the cloud's own choice; on this computer no limit."),
  memoryGiB: z
    .number({ error: memoryError })
    .min(0.5, { error: memoryError })
    .max(32_768, { error: memoryError })
    .optional()
    .describe("Memory of one machine, in GiB. Left out: as for cpus."),
};

const kubelet = kubeletSettingsSchema
  .default({})
  .describe("Fields of KubeletConfiguration for these machines' kubelets, as in { maxPods: 50 }. Changed in place.");

const controlPlane = settings(
  {
    count: z
      .literal(1, { error: "1 is allowed; several control-plane machines are not supported yet" })
      .default(1)
      .describe("How many machines run the control plane."),
    schedulable: z
      .boolean({ error: "true or false is allowed" })
      .default(false)
      .describe("Whether ordinary pods may run on the control plane. Changed in place; pods that run there stay."),
    kubelet,
    ...machineSize,
  },
  "{ schedulable: true }",
);

function doubleTaints(taints: readonly z.output<typeof taint>[], context: z.RefinementCtx): void {
  for (const [index, { key, effect }] of taints.entries()) {
    const first = taints.findIndex((other) => other.key === key && other.effect === effect);
    if (first < index) {
      const message = `a node has one taint of a key and effect, and taints[${first}] is that`;
      context.addIssue({ code: "custom", message, path: [index, "key"], input: key });
    }
  }
}

const imageError = "an image's reference is expected, as in localhost/my-machine:1";

export const poolSchema = settings(
  {
    name: name
      .refine((text) => text !== "control-plane", { error: "another name is needed; 'control-plane' is taken" })
      .describe("The pool's name, unique in the cluster; part of its machines' names."),
    count: count(0, 250).default(1).describe("How many machines. 0 keeps the pool and no machine."),
    labels: z
      .record(ownKey(reservedLabel), labelValue, { error: "labels by key are expected, as in { disk: ssd }" })
      .default({})
      .describe("Labels of the pool's nodes."),
    taints: z
      .array(taint, { error: "a list of taints is expected, as in [{ key: gpu, effect: NoSchedule }]" })
      .superRefine(doubleTaints)
      .default([])
      .describe("Taints of the pool's nodes."),
    kubelet,
    drainSeconds: count(1, 86_400)
      .default(timeLimits.drain)
      .describe(
        "How long moving the pods of one node away may take, in seconds. After that the node stays in service.",
      ),
    ...machineSize,
    image: z
      .string({ error: imageError })
      .regex(/^[A-Za-z0-9][-A-Za-z0-9._/:@+]{0,254}$/, { error: imageError })
      .optional()
      .describe(
        "The machines' image, by the cloud's own reference; on this computer an image that the container engine has. Looked up " +
          "once and kept. Left out: the cloud's own for this Kubernetes version.",
      ),
    surge: count(1, 10)
      .default(2)
      .describe(
        "How many machines of the pool are replaced at a time when cpus, memoryGiB or image change: each new one is Ready " +
          "before the old one is drained.",
      ),
  },
  "{ name: workers, count: 2 }",
);

export const networkSchema = settings(
  {
    machines: range
      .optional()
      .describe("Addresses of machines. Left out: a free range, chosen when the network is made and then kept."),
    pods: range.default("10.244.0.0/16").describe("Addresses of pods; each machine takes 256 of them."),
    services: range.default("10.96.0.0/16").describe("Addresses of Services."),
  },
  "{ pods: 10.244.0.0/16 }",
);

/** The cluster spec's schema. Unknown keys are refused. */
export const clusterSpecSchema = settings(
  {
    name: name.describe("The cluster's name, also that of its kubeconfig context. Left out: the stack's name."),
    cloud: z.enum(["local"], { error: "local is allowed" }).default("local").describe("Where the cluster runs."),
    kubernetesVersion: z
      .enum(kubernetesVersions, { error: `one of ${kubernetesVersions.join(", ")} is allowed, in quotes` })
      .default(kubernetesVersions[0])
      .describe("The exact Kubernetes version."),
    network: networkSchema.prefault({}).describe("Address ranges; none may overlap with another."),
    controlPlane: controlPlane.prefault({}).describe("The machines that run the API server and etcd."),
    pools: z
      .array(poolSchema, { error: "a list of pools is expected" })
      .default([])
      .describe("Groups of alike machines that run pods."),
  },
  "{ name: dev }",
);

/** A whole spec: every default filled in. */
export type ClusterSpec = z.output<typeof clusterSpecSchema>;
/** A spec as a person writes it: everything but the name may be left out. */
export type ClusterArguments = z.input<typeof clusterSpecSchema>;
export type PoolSpec = ClusterSpec["pools"][number];
export type Taint = PoolSpec["taints"][number];
export type CloudName = ClusterSpec["cloud"];
