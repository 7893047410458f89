/**
 * Emptying a node: every pod is evicted, which respects disruption budgets, within a time limit.
 * Where that is reached, the node goes back into service and the error names who held it up.
 */
import type { V1Pod } from "@kubernetes/client-node";
import { messageOf, UserError } from "../cloud/errors";
import type { Context } from "../cloud/resource";
import { type Look, waitUntil } from "../cloud/retry";
import { timeLimits } from "../cloud/time-limits";
import { ApiAnswer, type ClusterApi } from "./api";
import { type NodeState, setCordoned } from "./nodes";

/** Cordons the node and evicts its pods. A node that does not empty in time is put back into service. */
export async function drainNode(
  api: ClusterApi,
  node: NodeState,
  context: Context,
  seconds: number = timeLimits.drain,
): Promise<void> {
  await setCordoned(api, node.name, true, context);
  try {
    const wait = {
      description: `the pods of node ${node.name} to leave`,
      seconds,
      pauseMilliseconds: 500,
      signal: context.signal,
      progress: (message: string) => context.progress(message),
    };
    await waitUntil(wait, () => evictOnce(api, node.name, context));
  } catch (error) {
    await backIntoService(api, node, context);
    throw new UserError(
      `Node ${node.name} could not be drained and is ${node.cordoned ? "still cordoned, as it was before" : "in service again"}: ` +
        `${messageOf(error)}. Nothing of it was removed. Make room for its pods or change the budget that holds them, then run again.`,
    );
  }
}

/** Whether a drain has to evict the pod: not those that a DaemonSet or the node itself would make anew, nor finished ones. */
export function hasToLeave(pod: V1Pod): boolean {
  const { annotations = {}, ownerReferences = [] } = pod.metadata ?? {};
  const mirror = "kubernetes.io/config.mirror" in annotations;
  const daemon = ownerReferences.some(({ controller, kind }) => controller && kind === "DaemonSet");
  const finished = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  return !mirror && !daemon && !finished;
}

async function evictOnce(api: ClusterApi, node: string, context: Context): Promise<Look<true>> {
  const fieldSelector = `spec.nodeName=${node}`;
  const { items } = await api.call(`listing the pods of node ${node}`, context, () =>
    api.core.listPodForAllNamespaces({ fieldSelector }),
  );
  const staying = items.filter(hasToLeave);
  if (staying.length === 0) {
    return { found: true };
  }
  const reasons = await Promise.all(staying.map((pod) => evict(api, pod, context)));
  return { pending: [...new Set(reasons)].sort().join("; ") };
}

/** Asks for one pod's eviction and gives back why it is still there. */
async function evict(api: ClusterApi, pod: V1Pod, context: Context): Promise<string> {
  const { name = "", namespace = "", deletionTimestamp } = pod.metadata ?? {};
  const title = `${namespace}/${name}`;
  if (deletionTimestamp) {
    return `pod ${title} is ending`;
  }
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  try {
    await api.callIfFound(`evicting pod ${title}`, context, () =>
      api.core.createNamespacedPodEviction({ name, namespace, body }),
    );
    return `pod ${title} is ending`;
  } catch (error) {
    if (error instanceof ApiAnswer && error.status === 429) {
      return `pod ${title} may not be evicted: ${await budgetOf(api, pod, error, context)}`;
    }
    throw error;
  }
}

/** The budget that refused, in words; the API names it in its causes, but not always. */
async function budgetOf(api: ClusterApi, pod: V1Pod, { causes, detail }: ApiAnswer, context: Context): Promise<string> {
  const cause = causes.find((text) => text.includes("disruption budget"));
  if (cause) {
    return cause;
  }
  const { namespace = "", labels = {} } = pod.metadata ?? {};
  const { items } = await api.call("listing disruption budgets", context, () =>
    api.policy.listNamespacedPodDisruptionBudget({ namespace }),
  );
  const names = items
    .filter(({ spec }) => {
      const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
      return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
    })
    .map(({ metadata }) => metadata?.name);
  return names.length > 0 ? `disruption budget ${names.join(", ")} of namespace ${namespace} allows none` : detail;
}

async function backIntoService(api: ClusterApi, node: NodeState, context: Context): Promise<void> {
  if (node.cordoned) {
    return;
  }
  // The run may be interrupted, and then this has to be done all the same.
  const lasting: Context = { signal: new AbortController().signal, progress: () => undefined, warn: () => undefined };
  await setCordoned(api, node.name, false, lasting).catch((error: unknown) =>
    context.warn(
      `node ${node.name} stays cordoned, since the API did not take it back into service: ${messageOf(error)}`,
    ),
  );
}
