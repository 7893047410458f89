/**
 * guest:Kubeconfig: the administrator's kubeconfig, taken from the control plane and named after the cluster.
 * It stays in the stack, a secret; files are written only by who asks for them.
 */
import { parse } from "yaml";
import { z } from "zod";
import type { Plan, Resource } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import { yamlText } from "../cloud/yaml";
import { planForMachine } from "./join-information";
import { runScript } from "./on-machine";
import { sshAccess } from "./ssh";

const expected = z.strictObject({
  /** The cluster's name; user and context get it too. */
  cluster: z.string().min(1),
  access: sshAccess,
  /** The API as this computer reaches it: `https://host:port`. */
  server: z.url(),
  /** The cloud's own id of the control-plane machine, where it can be replaced under the same name. */
  machineId: z.string().optional(),
});

export type KubeconfigExpected = z.output<typeof expected>;

export interface KubeconfigActual extends KubeconfigExpected {
  readonly kubeconfig: string;
}

export const kubeconfig: Resource<KubeconfigExpected, KubeconfigActual> = {
  expected,
  secrets: ["kubeconfig"],
  actual: async ({ actual }) => actual,
  plan(actual, wanted): Plan {
    const moved = actual.server !== wanted.server || actual.cluster !== wanted.cluster;
    return [
      ...planForMachine({ ...actual, machine: "" }, { ...wanted, machine: "" }),
      ...(moved ? [{ name: "updateServer", property: "server", action: "update" } as const] : []),
    ];
  },
  async apply(wanted, _recorded, context) {
    const { access, cluster, server } = wanted;
    const seconds = timeLimits.apiServing;
    const text = await runScript(
      access,
      {
        operation: "fetching the kubeconfig",
        machine: `the control plane of ${cluster}`,
        script: ["kubeconfig.sh", String(seconds)],
        seconds: seconds + timeLimits.sshReady,
      },
      context,
    );
    return { id: cluster, actual: { ...wanted, kubeconfig: namedKubeconfig(text, cluster, server) } };
  },
  delete: async () => undefined,
};

const adminConfig = z.object({
  clusters: z.tuple([z.object({ cluster: z.object({ "certificate-authority-data": z.string() }) })]),
  users: z.tuple([
    z.object({ user: z.object({ "client-certificate-data": z.string(), "client-key-data": z.string() }) }),
  ]),
});

/** kubeadm's admin.conf under the cluster's own name and for another server address. Pure. */
export function namedKubeconfig(adminConf: string, cluster: string, server: string): string {
  const { clusters, users } = adminConfig.parse(parse(adminConf));
  const authority = clusters[0].cluster["certificate-authority-data"];
  return yamlText({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server, "certificate-authority-data": authority } }],
    users: [{ name: cluster, user: users[0].user }],
    contexts: [{ name: cluster, context: { cluster, user: cluster } }],
    "current-context": cluster,
  });
}
