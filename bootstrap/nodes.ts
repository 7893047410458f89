/**
 * Nodes as the Kubernetes API has them: reading, waiting for Ready, labels and taints, service, removal.
 */
import type { V1Node } from "@kubernetes/client-node";
import type { Condition } from "../cloud/conditions";
import { TransientError } from "../cloud/errors";
import { canonicalText } from "../cloud/json";
import type { Context } from "../cloud/resource";
import { waitUntil } from "../cloud/retry";
import type { Taint } from "../cloud/spec";
import { timeLimits } from "../cloud/time-limits";
import { ApiAnswer, type ClusterApi, retried } from "./api";

export interface NodeState {
  readonly name: string;
  readonly uid: string;
  /** Another one after every change of the Node object. */
  readonly resourceVersion?: string | undefined;
  /** The machine's own id, by which a Node object is told from one of an earlier machine of that name. */
  readonly machineId: string;
  /** Kubelet's version, without "v". */
  readonly kubernetesVersion: string;
  readonly address?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Whether it takes no new pods. */
  readonly cordoned: boolean;
  /** Whether that is so for a drain of ours, which may have been killed half-way, and by no person. */
  readonly isDrained: boolean;
  readonly ready: Condition;
}

/** The node, or `undefined` where the API has none of that name. */
export async function readNode(api: ClusterApi, name: string, context: Context): Promise<NodeState | undefined> {
  const node = await api.callIfFound(`reading node ${name}`, context, () => api.core.readNode({ name }));
  return node && stateOf(node);
}

export async function listNodes(api: ClusterApi, context: Context): Promise<NodeState[]> {
  const { items } = await api.call("listing nodes", context, () => api.core.listNode());
  return items.map(stateOf);
}

/** Waits until the node is there, Ready, and of that version. */
export async function awaitReadyNode(
  api: ClusterApi,
  name: string,
  version: string,
  context: Context,
): Promise<NodeState> {
  const wait = {
    description: `node ${name} to be Ready`,
    seconds: timeLimits.nodeReady,
    pauseMilliseconds: 150,
    signal: context.signal,
    progress: (message: string) => context.progress(message),
  };
  return await waitUntil<NodeState>(wait, async () => {
    const node = await readNode(api, name, context);
    if (!node) {
      return { pending: "its kubelet has not registered yet" };
    }
    const problem = unreadiness(node, version);
    return problem === undefined ? { found: node } : { pending: problem };
  });
}

/** Why the node is not as it should be; `undefined` when it is. */
export function unreadiness(node: NodeState, version: string): string | undefined {
  if (node.ready.status !== "True") {
    return shortReason(node.ready.message) || `Ready is ${node.ready.status}`;
  }
  return node.kubernetesVersion === version
    ? undefined
    : `it runs Kubernetes ${node.kubernetesVersion}, and ${version} is expected`;
}

/** What kubelet says in the course of every start, in words that fit on a row. */
const usualReasons: readonly (readonly [RegExp, string])[] = [
  [
    /container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized/g,
    "its pod network is not there yet",
  ],
  [/CSINode is not yet initialized/g, "its storage is starting"],
  [/container runtime status check may not have completed yet/g, "its container runtime is starting"],
  [/Kubelet stopped posting node status\.?/g, "its kubelet no longer reports"],
];

/** Why a node is not Ready, shortened where it is usual; other words stay as they are. Pure. */
export function shortReason(message: string): string {
  const short = usualReasons.reduce((text, [usual, words]) => text.replace(usual, words), message);
  // Kubelet puts several reasons into brackets.
  return short === message ? message : short.replace(/^\[(.*)\]$/s, "$1");
}

/** What of a node's labels and taints is ours. */
export interface NodeMarks {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/**
 * Sets our labels and taints, takes away those that were ours and are no more, and leaves everyone else's alone.
 *
 * @param former what was set by an earlier run
 */
export async function markNode(
  api: ClusterApi,
  node: NodeState,
  expected: NodeMarks,
  former: NodeMarks,
  context: Context,
): Promise<void> {
  const { name } = node;
  let current = node;
  await retried(context, async () => {
    const body = markingPatch(current, expected, former);
    if (body) {
      await api
        .call(`labelling node ${name}`, context, () => api.core.patchNode({ name, body }, api.strategicMerge))
        .catch(async (error: unknown) => {
          if (error instanceof ApiAnswer && error.status === 409) {
            current = (await readNode(api, name, context)) ?? current;
            throw new TransientError(error.message);
          }
          throw error;
        });
    }
  });
}

/** The patch that brings a node to our labels and taints; `undefined` when it has them. Pure. */
export function markingPatch(node: NodeState, expected: NodeMarks, former: NodeMarks): object | undefined {
  const labels: Record<string, string | null> = {};
  for (const key of Object.keys(former.labels)) {
    if (!(key in expected.labels) && key in node.labels) {
      labels[key] = null;
    }
  }
  for (const [key, value] of Object.entries(expected.labels)) {
    if (node.labels[key] !== value) {
      labels[key] = value;
    }
  }
  const ours = new Set([...former.taints, ...expected.taints].map(taintId));
  const taints = [...node.taints.filter((taint) => !ours.has(taintId(taint))), ...expected.taints];
  const sameTaints = canonicalText(sortedTaints(taints)) === canonicalText(sortedTaints(node.taints));
  if (Object.keys(labels).length === 0 && sameTaints) {
    return undefined;
  }
  return {
    // Only of the node as it was read: somebody else's taint of just now would be lost.
    metadata: { labels, ...(!sameTaints && { resourceVersion: node.resourceVersion }) },
    // The list as a whole: the API merges no lists of taints.
    ...(!sameTaints && { spec: { taints: taints.map(asApiTaint) } }),
  };
}

/** Stands on a node for as long as a drain of ours keeps new pods from it. */
const drainMark = "kubicorn.io/drain";

/** Takes a node out of service for new pods because of a drain, or puts it back. */
export async function setCordoned(api: ClusterApi, name: string, cordoned: boolean, context: Context): Promise<void> {
  const body = {
    metadata: { annotations: { [drainMark]: cordoned ? "begun" : null } },
    spec: { unschedulable: cordoned || null },
  };
  await api.callIfFound(`${cordoned ? "cordoning" : "uncordoning"} node ${name}`, context, () =>
    api.core.patchNode({ name, body }, api.strategicMerge),
  );
}

/** What is true of a node: whether it is Ready and, where a drain was cut off, that it is not in service. */
export function conditionsOf({ ready, cordoned, isDrained }: NodeState): Condition[] {
  const message = "a drain that was cut off keeps new pods from it";
  return [ready, ...(cordoned && isDrained ? [{ type: "InService", status: "False" as const, message }] : [])];
}

/** Deletes the Node object. Already gone is success. */
export async function deleteNode(api: ClusterApi, name: string, context: Context): Promise<void> {
  await api.callIfFound(`deleting node ${name}`, context, () => api.core.deleteNode({ name }));
}

/** Taints in an order that does not depend on how they were given. */
export function sortedTaints(taints: readonly Taint[]): Taint[] {
  return [...taints]
    .map(({ key, value, effect }) => ({ key, value, effect }))
    .sort((left, right) => (taintId(left) < taintId(right) ? -1 : 1));
}

/** A node has at most one taint of a key and effect. */
export function taintId({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}

function asApiTaint({ key, value, effect }: Taint): object {
  return { key, effect, ...(value && { value }) };
}

function stateOf(node: V1Node): NodeState {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  const address = node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  return {
    name: node.metadata?.name ?? "",
    uid: node.metadata?.uid ?? "",
    resourceVersion: node.metadata?.resourceVersion,
    machineId: node.status?.nodeInfo?.machineID ?? "",
    kubernetesVersion: (node.status?.nodeInfo?.kubeletVersion ?? "").replace(/^v/, ""),
    ...(address && { address }),
    labels: node.metadata?.labels ?? {},
    taints: (node.spec?.taints ?? []).map(({ key, value = "", effect }) => ({
      key,
      value,
      effect: effect as Taint["effect"],
    })),
    cordoned: node.spec?.unschedulable ?? false,
    isDrained: node.metadata?.annotations?.[drainMark] !== undefined,
    ready: {
      type: "Ready",
      status: ready?.status === "True" || ready?.status === "False" ? ready.status : "Unknown",
      message: ready?.status === "True" ? "" : (ready?.message ?? "its kubelet has not reported yet"),
    },
  };
}
