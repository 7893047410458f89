/**
 * guest:Node: a machine's membership in the cluster. Joining, labels and taints, readiness;
 * at the end draining, and removal of the Node object.
 */
import { z } from "zod";
import { type Condition, unmet } from "../cloud/conditions";
import { DeadlineError, messageOf, TransientError, UserError } from "../cloud/errors";
import { canonicalText } from "../cloud/json";
import { kubeletSettingsSchema } from "../cloud/kubelet-settings";
import type { ApplyContext, Fact, Plan, Recorded, Resource } from "../cloud/resource";
import { rollout } from "../cloud/rollout";
import { timeLimits } from "../cloud/time-limits";
import { type ClusterApi, clusterApi, OtherClusterError, preloadApi, retried } from "./api";
import { drainNode } from "./drain";
import { joinMachine, startKubelet, stoppedPrograms } from "./join";
import { planForMachine } from "./join-information";
import { controlPlaneTaints, nodeLabels } from "./kubeadm-config";
import { updateKubelet } from "./kubelet";
import {
  awaitReadyNode,
  conditionsOf,
  deleteNode,
  markNode,
  type NodeMarks,
  type NodeState,
  readNode,
  setCordoned,
  sortedTaints,
  taintId,
} from "./nodes";
import { awaitMilestone } from "./on-machine";
import { registeredMarks } from "./registered-marks";
import { isBeingRemoved } from "./removal-mark";
import { sshAccess } from "./ssh";
import { cameBack, formerSchema, retireFormer, turnSchema } from "./succession";

const taint = z.strictObject({
  key: z.string(),
  value: z.string().default(""),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
});

const expected = z.strictObject({
  /** The machine's host name, which is the node's name. */
  machine: z.string().min(1),
  /** False for the first control plane, which is a member from its making on. */
  joins: z.boolean(),
  access: sshAccess,
  /** The API as machines reach it: `name:port`. */
  apiEndpoint: z.string().min(1),
  /** The address that the endpoint's name means. */
  endpointAddress: z.string().min(1),
  caCertificate: z.string(),
  kubeconfig: z.string(),
  kubernetesVersion: z.string(),
  labels: z.record(z.string(), z.string()),
  taints: z.array(taint),
  /** Settings of this machine's kubelet, over those of the whole cluster. */
  kubelet: kubeletSettingsSchema.default({}),
  /** How long moving its pods away may take, in seconds. */
  drainSeconds: z.number().positive().default(timeLimits.drain),
  /** The pool that the machine belongs to. */
  pool: z.string().min(1),
  /** The cloud's own id of the machine, where it can be replaced under the same name. */
  machineId: z.string().optional(),
  /** The machines whose place this one takes, where their nodes had other names: they are drained once it is Ready. */
  former: formerSchema.optional(),
  /** The turn that ends with that. */
  turn: turnSchema.optional(),
});

export type NodeExpected = z.output<typeof expected>;

export interface NodeActual extends NodeExpected {
  /** The Node object's own id. */
  readonly uid: string;
  readonly address?: string;
  readonly conditions: readonly Condition[];
}

export const node: Resource<NodeExpected, NodeActual> = {
  expected,
  secrets: ["kubeconfig"],
  // A node of another name joins, and is Ready, before this one is drained.
  deleteBeforeReplace: (actual, wanted) => actual.machine === wanted.machine,

  async actual(recorded, context) {
    const actual = completed(recorded.actual);
    try {
      const [found, stopped] = await Promise.all([
        clusterApi(actual.kubeconfig).then((api) => readNode(api, actual.machine, context)),
        stoppedPrograms(actual.access, actual.machine, context),
      ]);
      if (found && stopped) {
        const seen = asSeen(actual, found);
        return { ...seen, conditions: [{ type: "Ready", status: "False", message: stopped }] };
      }
      return found && asSeen(actual, found);
    } catch (error) {
      context.warn(
        `node ${actual.machine} could not be looked at, so what is recorded of it stays: ${messageOf(error)}`,
      );
      const message = "the Kubernetes API does not tell";
      return { ...actual, conditions: [{ type: "Ready", status: "Unknown", message }] };
    }
  },

  plan(recorded, wanted): Plan {
    const actual = completed(recorded);
    const facts: Fact[] = [...planForMachine(actual, wanted)];
    if (actual.kubernetesVersion !== wanted.kubernetesVersion) {
      facts.push({ name: "replaceVersion", property: "kubernetesVersion", action: "replace" });
    }
    if (actual.caCertificate !== wanted.caCertificate) {
      facts.push({ name: "replaceCluster", property: "caCertificate", action: "replace" });
    }
    if (canonicalText(actual.labels) !== canonicalText(wanted.labels)) {
      facts.push({ name: "updateLabels", property: "labels", action: "update" });
    }
    if (canonicalText(sortedOrUnknown(actual.taints)) !== canonicalText(sortedOrUnknown(wanted.taints))) {
      facts.push({ name: "updateTaints", property: "taints", action: "update" });
    }
    if (canonicalText(actual.kubelet) !== canonicalText(wanted.kubelet)) {
      facts.push({ name: "updateKubelet", property: "kubelet", action: "update" });
    }
    if (actual.drainSeconds !== wanted.drainSeconds) {
      facts.push(drainLimitFact);
    }
    if (actual.pool !== wanted.pool) {
      facts.push({ name: "updatePool", property: "pool", action: "update" });
    }
    if (cameBack(actual, wanted)) {
      facts.push({ name: "retireFormer", property: "former", action: "update" });
    }
    const [problem] = unmet(actual.conditions);
    if (problem) {
      const lacks = problem.type === "Ready" ? "is not Ready" : "is not in service";
      const note = `Node ${actual.machine} ${lacks}${problem.message && `: ${problem.message}`}.`;
      facts.push({ name: "restoreService", property: "machine", action: "update", note });
    }
    return facts;
  },

  async apply(wanted, recorded, context) {
    const plan = recorded ? node.plan(recorded.actual, wanted) : [];
    if (recorded && isOnlyRecorded(plan)) {
      endTurn(wanted);
      return { id: recorded.id, actual: { ...recorded.actual, ...wanted } };
    }
    preloadApi();
    const api = await clusterApi(wanted.kubeconfig);
    let hasJoined = false;
    if (!wanted.joins && !recorded) {
      await awaitMilestone(wanted.access, wanted.machine, "initialized", context);
    } else {
      hasJoined = await becomeMember(api, wanted, recorded, context);
    }
    if (recorded ? plan.some(({ name }) => name === "updateKubelet") : !wanted.joins) {
      // Before the wait for Ready: the settings may be what keeps it from that.
      await updateKubelet(wanted, context);
    }
    const found = await awaitReadyNode(api, wanted.machine, wanted.kubernetesVersion, context);
    const former = hasJoined
      ? await registeredMarks(wanted.access, found, marksOf(wanted), context)
      : recorded
        ? marksOf(completed(recorded.actual))
        : none;
    await markNode(api, found, marksOf(wanted), former, context);
    if (found.isDrained) {
      await retried(context, () => setCordoned(api, wanted.machine, false, context));
    }
    await retireFormer(api, wanted, context);
    endTurn(wanted);
    return { id: wanted.machine, actual: { ...wanted, ...facts({ ...found, isDrained: false }) } };
  },

  async begun(wanted) {
    const conditions: Condition[] = [{ type: "Ready", status: "Unknown", message: "it may have joined" }];
    return { id: wanted.machine, actual: { ...wanted, uid: "", conditions } };
  },

  async delete(recorded, context) {
    const actual = completed(recorded.actual);
    const { machine } = actual;
    const api = await clusterApi(actual.kubeconfig);
    try {
      if (await retried(context, () => isBeingRemoved(api, context))) {
        return;
      }
      const found = await retried(context, () => readNode(api, machine, context));
      if (found) {
        await drainNode(api, found, actual.drainSeconds, context);
        await retried(context, () => deleteNode(api, machine, context));
      }
    } catch (error) {
      if (error instanceof OtherClusterError) {
        // The control plane was made anew: the cluster that this membership was in is gone, and its Node object with it.
        context.warn(`node ${machine} was a member of a cluster that is gone: ${error.detail}`);
        return;
      }
      throw error instanceof DeadlineError || error instanceof TransientError ? outOfReach(machine, error) : error;
    }
  },
};

function endTurn({ turn }: NodeExpected): void {
  if (turn) {
    rollout.end(turn);
  }
}

/** Makes the machine a member, whatever an earlier run has got done of that; whether its node may be a new one. */
async function becomeMember(
  api: ClusterApi,
  wanted: NodeExpected,
  recorded: Recorded<NodeActual> | undefined,
  context: ApplyContext<NodeActual>,
): Promise<boolean> {
  const found = await retried(context, () => readNode(api, wanted.machine, context));
  if (found && recorded) {
    if (found.ready.status !== "True" || unmet(recorded.actual.conditions).length > 0) {
      await startKubelet(wanted.access, wanted.machine, context);
    }
    return false;
  }
  await joinMachine(api, { ...wanted, found }, context);
  context.made(wanted.machine, {
    ...wanted,
    uid: "",
    conditions: [{ type: "Ready", status: "Unknown", message: "it has just joined" }],
  });
  return true;
}

/** What a drain is given when it begins, and nothing before. */
const drainLimitFact: Fact = { name: "updateDrainLimit", property: "drainSeconds", action: "update" };

/** Whether there is nothing to do but to record. */
function isOnlyRecorded(plan: Plan): boolean {
  return plan.length > 0 && plan.every((fact) => fact === drainLimitFact);
}

/**
 * A record in today's form. A former version recorded neither kubelet's settings nor the drain's limit, and did not count
 * the control plane's own taint among those of its node.
 */
function completed(recorded: NodeActual): NodeActual {
  const { kubelet, drainSeconds }: Partial<NodeActual> = recorded;
  if (kubelet !== undefined && drainSeconds !== undefined) {
    return recorded;
  }
  const taints = recorded.pool === "control-plane" ? controlPlaneTaints(false) : recorded.taints;
  return { ...recorded, taints, kubelet: {}, drainSeconds: timeLimits.drain };
}

/** What is recorded of a node, as it is now: of its labels and taints only those that are ours. */
function asSeen(actual: NodeActual, found: NodeState): NodeActual {
  const ours = new Set(actual.taints.map(taintId));
  const labels = Object.entries(actual.labels).flatMap(([key]) => {
    const value = found.labels[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    ...actual,
    labels: Object.fromEntries(labels),
    taints: sortedTaints(found.taints.filter((one) => ours.has(taintId(one)))),
    kubernetesVersion: found.kubernetesVersion,
    ...facts(found),
  };
}

function facts(found: NodeState): Pick<NodeActual, "uid" | "address" | "conditions"> {
  return { uid: found.uid, ...(found.address && { address: found.address }), conditions: conditionsOf(found) };
}

const none: NodeMarks = { labels: {}, taints: [] };

function marksOf({ pool, labels, taints }: NodeExpected): NodeMarks {
  return { labels: nodeLabels(pool, labels), taints };
}

/** In a preview the list may not be known yet. */
function sortedOrUnknown(taints: NodeExpected["taints"]): unknown {
  return Array.isArray(taints) ? sortedTaints(taints) : taints;
}

function outOfReach(machine: string, error: Error): UserError {
  return new UserError(
    `Node ${machine} was not removed, since its pods could not be moved away first: ${error.message}. ` +
      `Bring the control plane back and run again; where it is gone for good, remove the whole cluster.`,
  );
}
