/**
 * guest:Readiness: the cluster is settled: its API is healthy and every node Ready at the right version.
 * It is the first thing to go when a cluster is removed, and then tells the nodes that they need no drain.
 */
import { z } from "zod";
import { type Condition, unmet } from "../cloud/conditions";
import { messageOf } from "../cloud/errors";
import type { Context, Plan, Resource } from "../cloud/resource";
import { waitUntil } from "../cloud/retry";
import { timeLimits } from "../cloud/time-limits";
import { type ClusterApi, clusterApi, retried } from "./api";
import { listNodes, unreadiness } from "./nodes";
import { markRemoval, unmarkRemoval } from "./removal-mark";

const expected = z.strictObject({
  /** The cluster's name. */
  cluster: z.string().min(1),
  kubeconfig: z.string(),
  kubernetesVersion: z.string(),
});

export type ReadinessExpected = z.output<typeof expected>;

export interface ReadinessActual extends ReadinessExpected {
  readonly conditions: readonly Condition[];
}

export const readiness: Resource<ReadinessExpected, ReadinessActual> = {
  expected,
  secrets: ["kubeconfig"],

  async actual({ actual }, context) {
    try {
      const problem = await unsettled(await clusterApi(actual.kubeconfig), actual.kubernetesVersion, context);
      return { ...actual, conditions: [settled(problem === undefined ? "True" : "False", problem)] };
    } catch (error) {
      context.warn(`cluster ${actual.cluster} could not be looked at: ${messageOf(error)}`);
      return { ...actual, conditions: [settled("Unknown", "the Kubernetes API does not answer")] };
    }
  },

  plan(actual, wanted): Plan {
    if (actual.cluster !== wanted.cluster) {
      return [{ name: "replaceCluster", property: "cluster", action: "replace" }];
    }
    if (actual.kubernetesVersion !== wanted.kubernetesVersion) {
      return [{ name: "updateVersion", property: "kubernetesVersion", action: "update" }];
    }
    if (actual.kubeconfig !== wanted.kubeconfig) {
      return [{ name: "updateKubeconfig", property: "kubeconfig", action: "update" }];
    }
    return unmet(actual.conditions).length > 0
      ? [{ name: "awaitReadiness", property: "cluster", action: "update" }]
      : [];
  },

  async apply(wanted, _recorded, context) {
    const { cluster, kubernetesVersion } = wanted;
    const api = await clusterApi(wanted.kubeconfig);
    const wait = {
      description: `cluster ${cluster} to settle`,
      seconds: timeLimits.nodeReady,
      signal: context.signal,
      progress: (message: string) => context.progress(message),
    };
    await waitUntil(wait, async () => {
      const problem = await unsettled(api, kubernetesVersion, context);
      return problem === undefined ? { found: true } : { pending: problem };
    });
    await retried(context, () => unmarkRemoval(api, context));
    return { id: cluster, actual: { ...wanted, conditions: [settled("True")] } };
  },

  async begun(wanted) {
    return { id: wanted.cluster, actual: { ...wanted, conditions: [settled("Unknown")] } };
  },

  async delete({ actual }, context) {
    if (context.isPartial) {
      // The cluster stays, without some of its nodes: they are drained like any that leave.
      return;
    }
    const api = await clusterApi(actual.kubeconfig);
    await retried(context, () => markRemoval(api, actual.cluster, context)).catch((error: unknown) =>
      context.warn(
        `the API of cluster ${actual.cluster} could not be told of its removal, which goes on: ${messageOf(error)}`,
      ),
    );
  },
};

/** What keeps the cluster from being settled; `undefined` when nothing does. */
async function unsettled(api: ClusterApi, version: string, context: Context): Promise<string | undefined> {
  const nodes = await listNodes(api, context);
  const problems = nodes.flatMap((one) => {
    const problem = unreadiness(one, version);
    return problem === undefined ? [] : [`node ${one.name}: ${problem}`];
  });
  if (problems.length > 0) {
    return problems.join("; ");
  }
  return (await api.isReady()) ? undefined : "the API server does not call itself ready";
}

function settled(status: Condition["status"], message = ""): Condition {
  return { type: "Settled", status, message };
}
