/**
 * Bootstrap tokens: the credential of one join, made for it, short-lived, and taken away after it.
 */
import { randomInt } from "node:crypto";
import type { Context } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import type { ClusterApi } from "./api";

const namespace = "kube-system";
const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Runs the join with a token of its own. */
export async function withJoinToken<T>(
  api: ClusterApi,
  machine: string,
  context: Context,
  join: (token: string) => Promise<T>,
): Promise<T> {
  const [id, secret] = [randomText(6), randomText(16)];
  const name = `bootstrap-token-${id}`;
  // Ends by itself when this process does not live to take it away.
  const expiration = new Date(Date.now() + (timeLimits.machinePrepared + timeLimits.join) * 1000).toISOString();
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      description: `For the join of ${machine}.`,
      "token-id": id,
      "token-secret": secret,
      expiration: expiration.replace(/\.\d+Z$/, "Z"),
      "usage-bootstrap-authentication": "true",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    },
  };
  await api.call(`making the join token of ${machine}`, context, () =>
    api.core.createNamespacedSecret({ namespace, body }),
  );
  try {
    return await join(`${id}.${secret}`);
  } finally {
    const removal = () => api.core.deleteNamespacedSecret({ name, namespace });
    await api.callIfFound(`removing the join token of ${machine}`, context, removal).catch(() => undefined);
  }
}

function randomText(length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
