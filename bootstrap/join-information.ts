/**
 * guest:JoinInformation: what machines need to join and to trust the cluster: its CA.
 * Made as soon as the first control plane can be joined; a bootstrap that fails ends it at once.
 */
import { z } from "zod";
import type { Plan, Resource } from "../cloud/resource";
import { preloadApi } from "./api";
import { awaitMilestone } from "./on-machine";
import { sshAccess } from "./ssh";

const expected = z.strictObject({
  /** The first control-plane machine's name. */
  machine: z.string().min(1),
  access: sshAccess,
  /** The cloud's own id of that machine, where it can be replaced under the same name. */
  machineId: z.string().optional(),
});

export type JoinInformationExpected = z.output<typeof expected>;

export interface JoinInformationActual extends JoinInformationExpected {
  /** The cluster's CA certificate, PEM. */
  readonly caCertificate: string;
  /** kubeadm's hash of its public key: `sha256:` and 64 hexadecimal digits. */
  readonly caHash: string;
}

const printed = z.object({
  caCertificate: z.string().startsWith("-----BEGIN CERTIFICATE-----"),
  caHash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});

export const joinInformation: Resource<JoinInformationExpected, JoinInformationActual> = {
  expected,
  secrets: [],
  // The CA lives as long as its control plane; there is nothing else to look at.
  actual: async ({ actual }) => actual,
  plan: planForCluster,
  async apply(wanted, _recorded, context) {
    // Whatever follows this wait will need it.
    preloadApi();
    const { access, machine } = wanted;
    const text = await awaitMilestone(access, machine, "joinable", context, ["join-information.sh"]);
    const { caCertificate, caHash } = printed.parse(JSON.parse(text));
    return { id: caHash, actual: { ...wanted, caCertificate, caHash } };
  },
  delete: async () => undefined,
};

/** Another first machine is another cluster, which is said before it is made. */
function planForCluster(actual: JoinInformationExpected, wanted: JoinInformationExpected): Plan {
  const note =
    `${wanted.machine} is another machine than before, so the cluster is a new one, which all machines join. ` +
    "Everything that was stored in the former cluster, every object of its API, is gone with its machine.";
  return planForMachine(actual, wanted).map((fact) => ({ ...fact, note }));
}

/** What was learnt of a machine is learnt anew when it is another machine; where it is reached does not matter. */
export function planForMachine(actual: JoinInformationExpected, wanted: JoinInformationExpected): Plan {
  const same =
    actual.machine === wanted.machine &&
    actual.access.hostKey === wanted.access.hostKey &&
    (wanted.machineId === undefined || actual.machineId === undefined || actual.machineId === wanted.machineId);
  return same ? [] : [{ name: "replaceMachine", property: changedProperty(actual, wanted), action: "replace" }];
}

function changedProperty(actual: JoinInformationExpected, wanted: JoinInformationExpected): string {
  if (actual.machine !== wanted.machine) {
    return "machine";
  }
  return actual.access.hostKey === wanted.access.hostKey ? "machineId" : "access";
}
