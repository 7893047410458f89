/**
 * Kubelet's settings on one machine: a kubeadm patch over those of the whole cluster. A machine gets them when it joins
 * or is made, and later in place, a few machines at a time.
 */
import { RemoteError, UserError } from "../cloud/errors";
import type { KubeletSettings } from "../cloud/kubelet-settings";
import type { Context } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import { Turns } from "../cloud/turns";
import { kubeletPatch } from "./kubeadm-config";
import { runSentScript } from "./on-machine";
import type { SshAccess } from "./ssh";

/** Kubelets that are without service at the same time. */
const atOnce = 2;
const turns = new Turns(atOnce);
/** Settings that a kubelet has refused in this run: by pool and text, the machine that did. */
const refused = new Map<string, string>();

export interface KubeletUpdate {
  readonly machine: string;
  readonly access: SshAccess;
  readonly pool: string;
  readonly kubelet: KubeletSettings;
}

/**
 * Gives a machine's kubelet these settings and waits until it serves with them; does nothing where it has them.
 *
 * @throws RemoteError with kubelet's own words where it refuses them; the former ones are in force again then
 */
export async function updateKubelet(update: KubeletUpdate, context: Context): Promise<void> {
  const { machine, access, pool, kubelet } = update;
  const text = kubeletPatch(kubelet);
  const key = `${pool} ${text}`;
  const work = async () => {
    const first = refused.get(key);
    if (first !== undefined) {
      throw new UserError(`Kubelet's new settings were not tried on ${machine}, since ${first} has refused them.`);
    }
    context.progress("giving kubelet its settings");
    const operation = "changing kubelet's settings";
    const script = {
      operation,
      machine,
      script: "update-kubelet.sh",
      argument: text,
      seconds: timeLimits.kubeletUpdate,
    };
    await runSentScript(access, script, context).catch((error: unknown) => {
      if (error instanceof RemoteError) {
        refused.set(key, machine);
      }
      throw error;
    });
  };
  await turns.take(context.signal, work, () => context.progress("waiting for other kubelets to change their settings"));
}
