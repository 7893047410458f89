/**
 * The mark that a whole cluster is being removed, so that its nodes need not be drained one by one.
 * It stands in the cluster, for a run that goes on where another one ended, and in this process, for a cluster that is out of reach.
 */
import type { Context } from "../cloud/resource";
import { ApiAnswer, type ClusterApi } from "./api";

const namespace = "kube-system";
const name = "kubicorn-removal";
const markedHere = new WeakSet<ClusterApi>();

export async function markRemoval(api: ClusterApi, cluster: string, context: Context): Promise<void> {
  markedHere.add(api);
  const body = { metadata: { name }, data: { cluster } };
  await api
    .call("marking the cluster as being removed", context, () =>
      api.core.createNamespacedConfigMap({ namespace, body }),
    )
    .catch((error: unknown) => {
      // Marked by an earlier run.
      if (!(error instanceof ApiAnswer && error.status === 409)) {
        throw error;
      }
    });
}

export async function unmarkRemoval(api: ClusterApi, context: Context): Promise<void> {
  markedHere.delete(api);
  await api.callIfFound("taking away the mark of removal", context, () =>
    api.core.deleteNamespacedConfigMap({ name, namespace }),
  );
}

/** Whether the cluster is being removed as a whole. */
export async function isBeingRemoved(api: ClusterApi, context: Context): Promise<boolean> {
  if (markedHere.has(api)) {
    return true;
  }
  const mark = await api.callIfFound("looking whether the cluster is being removed", context, () =>
    api.core.readNamespacedConfigMap({ name, namespace }),
  );
  return mark !== undefined;
}
