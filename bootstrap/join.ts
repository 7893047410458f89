/**
 * Making a machine a member of the cluster, with a credential of its own that is gone afterwards.
 */
import type { KubeletSettings } from "../cloud/kubelet-settings";
import type { Context } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import { type ClusterApi, retried } from "./api";
import { discoveryFile, kubeletPatch, kubeletPatchFile } from "./kubeadm-config";
import { deleteNode, type NodeState } from "./nodes";
import { runScript } from "./on-machine";
import { runOnMachine, type SshAccess } from "./ssh";
import { withJoinToken } from "./tokens";
import { libraryFolder } from "./user-data";

export interface JoiningMachine {
  readonly machine: string;
  readonly access: SshAccess;
  /** `name:port`. */
  readonly apiEndpoint: string;
  readonly endpointAddress: string;
  readonly caCertificate: string;
  readonly kubelet: KubeletSettings;
  /** The Node object of that name, where the API has one already. */
  readonly found: NodeState | undefined;
}

/** Joins the machine. One that an interrupted run has joined is left as it is. */
export async function joinMachine(api: ClusterApi, joining: JoiningMachine, context: Context): Promise<void> {
  const { machine, access, found } = joining;
  if (found) {
    if (found.machineId === (await machineIdOf(access, machine, context))) {
      return;
    }
    // Left by an earlier machine of that name; kubeadm would refuse to join beside it.
    await retried(context, () => deleteNode(api, machine, context));
  }
  context.progress("joining the cluster");
  await withJoinToken(api, machine, context, (token) => runJoin(joining, token, context));
}

/**
 * What of a node's programs does not run on its machine; `undefined` where all do or the machine does not answer soon.
 * The API tells it too, but only after it has missed kubelet for most of a minute.
 */
export async function stoppedPrograms(
  access: SshAccess,
  machine: string,
  context: Context,
): Promise<string | undefined> {
  // Its exit code tells only of the last one, so the words are read.
  const command = "systemctl is-active containerd.service kubelet.service; true";
  const remote = { operation: "looking at its programs", machine, command, seconds: timeLimits.machineLook };
  const quiet: Context = { ...context, signal: context.signal, progress: () => undefined, warn: () => undefined };
  const states = await runOnMachine(access, remote, quiet).catch(() => undefined);
  const [containerd, kubelet] = states?.trim().split("\n") ?? [];
  const stopped = Object.entries({ containerd, kubelet }).filter(([, is]) => is === "inactive" || is === "failed");
  return stopped.length === 0
    ? undefined
    : `${stopped.map(([name, is]) => `${name} is ${is}`).join(", ")} on its machine`;
}

/** Starts what a node needs, where somebody stopped it. Tells why the machine's last boot failed, where it did. */
export async function startKubelet(access: SshAccess, machine: string, context: Context): Promise<void> {
  const command =
    `sudo -n ${libraryFolder}/wait.sh prepared ${timeLimits.sshCommand} && ` +
    "exec sudo -n systemctl start containerd.service kubelet.service";
  await runOnMachine(
    access,
    { operation: "starting kubelet", machine, command, seconds: timeLimits.sshReady },
    context,
  );
}

async function runJoin(joining: JoiningMachine, token: string, context: Context): Promise<void> {
  const { machine, access, apiEndpoint, endpointAddress, caCertificate, kubelet } = joining;
  const [name = "", port] = apiEndpoint.split(":");
  await runScript(
    access,
    {
      operation: "joining the cluster",
      machine,
      script: ["join.sh", endpointAddress],
      // Here and not in the user data, which may be older than the settings where an earlier run has made the machine.
      firstLine: { text: kubeletPatch(kubelet), file: kubeletPatchFile },
      stdin: discoveryFile({ endpoint: { name, port: Number(port) }, caCertificate, token }),
      seconds: timeLimits.machinePrepared + timeLimits.join,
    },
    context,
  );
}

async function machineIdOf(access: SshAccess, machine: string, context: Context): Promise<string> {
  const command = "cat /etc/machine-id";
  const remote = { operation: "reading the machine's id", machine, command, seconds: timeLimits.sshReady };
  return (await runOnMachine(access, remote, context)).trim();
}
