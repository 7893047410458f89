/**
 * Emptying a node: every pod is evicted, which respects disruption budgets, within a time limit. Where that is reached, the
 * node goes back into service and the error names who held it up. A dead node is not waited for.
 */
import type { V1Pod } from "@kubernetes/client-node";
import { messageOf, TransientError, UserError } from "../cloud/errors";
import type { Context } from "../cloud/resource";
import { type Look, waitUntil } from "../cloud/retry";
import { timeLimits } from "../cloud/time-limits";
import { ApiAnswer, type ClusterApi, retried } from "./api";
import { type NodeState, readNode, setCordoned } from "./nodes";

/** How soon a pod whose eviction was refused is tried again, in milliseconds: at first, and at most. */
const refusalPauses = { first: 1000, most: 5000 };
/** An ending that takes longer than this is told with its seconds. */
const longEnding = 60;
const shownReasons = 5;

/**
 * Cordons the node and evicts its pods. A node that does not empty in time is put back into service.
 * A node whose kubelet is gone is left as it is, with a warning: nobody there could end its pods.
 *
 * @param seconds the time limit
 * @param silence how long its kubelet may be silent until it counts as gone, in seconds
 */
export async function drainNode(
  api: ClusterApi,
  node: NodeState,
  seconds: number,
  context: Context,
  silence: number = timeLimits.kubeletSilence,
): Promise<void> {
  const wait = {
    description: `the pods of node ${node.name} to leave`,
    seconds,
    pauseMilliseconds: 500,
    signal: context.signal,
    progress: (message: string) => context.progress(message),
  };
  const drain = new Drain(api, node, silence, context);
  try {
    const left = await waitUntil(wait, () => drain.look());
    if (left.length > 0) {
      context.warn(
        `node ${node.name} does not answer: its machine is gone or its kubelet has stopped. So its pods could not be moved ` +
          `away and are removed with it, without regard to budgets: ${abridged(left, ", ")}. ` +
          "Kubernetes starts those that a controller keeps elsewhere.",
      );
    }
  } catch (error) {
    await backIntoService(api, node, context);
    throw new UserError(
      `Node ${node.name} could not be drained and is ${isCordonedByPerson(node) ? "still cordoned, as it was before" : "in service again"}: ` +
        `${messageOf(error)}. Nothing of it was removed. Make room for its pods, change the budget that holds them, or give ` +
        "the pool more drainSeconds (to a node that already leaves, by an up with its former count), then run again.",
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

/** When a pod whose eviction was refused may be tried again, how long that pause is, and why it was refused. */
interface Refusal {
  readonly until: number;
  readonly pause: number;
  readonly reason: string;
}

/** Whether the pod is also put on nodes that take no new pods, and so comes back to one that is drained. */
export function toleratesCordon({ spec }: V1Pod): boolean {
  return (spec?.tolerations ?? []).some(
    ({ key, operator, effect }) =>
      (key === "node.kubernetes.io/unschedulable" || (!key && operator === "Exists")) &&
      (!effect || effect === "NoSchedule"),
  );
}

/** A drain of ours that was cut off has left its cordon; any other one is a person's, who keeps it. */
function isCordonedByPerson({ cordoned, isDrained }: NodeState): boolean {
  return cordoned && !isDrained;
}

class Drain {
  private cordoned: boolean;
  private readonly node: string;
  /** The pods that were there when the drain began, by uid. */
  private first: ReadonlySet<string | undefined> | undefined;
  private silentSince: number | undefined;
  private readonly refused = new Map<string, Refusal>();

  constructor(
    private readonly api: ClusterApi,
    state: NodeState,
    private readonly silence: number,
    private readonly context: Context,
  ) {
    this.node = state.name;
    this.cordoned = isCordonedByPerson(state);
  }

  /** One round. Finds the pods that stay for good, since the node is dead; none where it is empty. */
  async look(): Promise<Look<readonly string[]>> {
    const { api, node, context } = this;
    if (!this.cordoned) {
      await setCordoned(api, node, true, context);
      this.cordoned = true;
    }
    const fieldSelector = `spec.nodeName=${node}`;
    const { items } = await api.call(`listing the pods of node ${node}`, context, () =>
      api.core.listPodForAllNamespaces({ fieldSelector }),
    );
    this.first ??= new Set(items.map(({ metadata }) => metadata?.uid));
    const { first } = this;
    const isBack = (pod: V1Pod) => !first.has(pod.metadata?.uid) && toleratesCordon(pod);
    const staying = items.filter((pod) => hasToLeave(pod) && !isBack(pod));
    if (staying.length === 0) {
      this.tellOfThoseThatAreBack(items.filter((pod) => hasToLeave(pod) && isBack(pod)));
      return { found: [] };
    }
    const life = await this.lookForLife();
    if (life !== "alive") {
      return life === "dead" ? { found: staying.map(titleOf) } : { pending: "its kubelet does not answer" };
    }
    const reasons = await Promise.all(staying.map((pod) => this.evict(pod)));
    return { pending: abridged(reasons, "; ") };
  }

  private tellOfThoseThatAreBack(pods: readonly V1Pod[]): void {
    if (pods.length > 0) {
      this.context.warn(
        `node ${this.node} got pods again while it was drained, since they tolerate that it takes none. They end with it: ` +
          abridged(pods.map(titleOf), ", "),
      );
    }
  }

  /**
   * Whether the node's kubelet is there to end pods. Kubernetes itself notices its absence only after a minute, so the
   * API server is also asked to reach it. A kubelet that only calls itself not Ready can still end pods.
   */
  private async lookForLife(): Promise<"alive" | "silent" | "dead"> {
    const { api, node, context } = this;
    const state = await readNode(api, node, context);
    if (state === undefined || state.ready.status === "Unknown") {
      return "dead";
    }
    if (await api.kubeletAnswers(node, context)) {
      this.silentSince = undefined;
      return "alive";
    }
    this.silentSince ??= performance.now();
    return performance.now() - this.silentSince >= this.silence * 1000 ? "dead" : "silent";
  }

  /** Asks for one pod's eviction and gives back why it is still there. */
  private async evict(pod: V1Pod): Promise<string> {
    const { api, context } = this;
    const { name = "", namespace = "", uid = "", deletionTimestamp, ownerReferences = [] } = pod.metadata ?? {};
    const title = titleOf(pod);
    if (deletionTimestamp) {
      return ending(pod);
    }
    const earlier = this.refused.get(uid);
    if (earlier && performance.now() < earlier.until) {
      return earlier.reason;
    }
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
    try {
      await api.callIfFound(`evicting pod ${title}`, context, () =>
        api.core.createNamespacedPodEviction({ name, namespace, body }),
      );
    } catch (error) {
      const reason = `pod ${title} may not be evicted: ${await this.reasonOf(pod, error)}`;
      const pause = earlier ? Math.min(2 * earlier.pause, refusalPauses.most) : refusalPauses.first;
      this.refused.set(uid, { until: performance.now() + pause, pause, reason });
      return reason;
    }
    if (!ownerReferences.some(({ controller }) => controller)) {
      context.warn(`pod ${title} had no controller, so nothing makes it anew elsewhere`);
    }
    return ending(pod);
  }

  /** Why an eviction was refused, where another try may succeed; every other refusal ends the drain. */
  private async reasonOf(pod: V1Pod, error: unknown): Promise<string> {
    if (error instanceof ApiAnswer && error.status === 429) {
      return await budgetOf(this.api, pod, error, this.context);
    }
    // As with two budgets for one pod, to which the API answers with an error of its own.
    if (error instanceof TransientError || (error instanceof ApiAnswer && error.status === 409)) {
      return error.message;
    }
    throw error;
  }
}

function ending(pod: V1Pod): string {
  const seconds = pod.metadata?.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 0;
  return `pod ${titleOf(pod)} is ending${seconds > longEnding ? `, for which it may take ${seconds} s` : ""}`;
}

function titleOf({ metadata }: V1Pod): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

/** The first of many; those that are refused before those that only take their time. */
function abridged(texts: readonly string[], separator: string): string {
  const different = [...new Set(texts)].sort((left, right) => rank(left) - rank(right) || (left < right ? -1 : 1));
  const more = different.length - shownReasons;
  return different.slice(0, shownReasons).join(separator) + (more > 0 ? `${separator}and ${more} more` : "");
}

function rank(reason: string): number {
  return reason.includes("may not be evicted") ? 0 : 1;
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
  if (isCordonedByPerson(node)) {
    return;
  }
  // The run may be interrupted, and then this has to be done all the same.
  const lasting: Context = { signal: new AbortController().signal, progress: () => undefined, warn: () => undefined };
  await retried(lasting, () => setCordoned(api, node.name, false, lasting)).catch((error: unknown) =>
    context.warn(
      `node ${node.name} stays cordoned, since the API did not take it back into service: ${messageOf(error)}`,
    ),
  );
}
