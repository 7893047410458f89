/**
 * What kubelet gives a node when it registers: the labels and taints of its machine's first boot. Where the machine joins
 * anew later, they may be older than what its pool has.
 */
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import type { Context } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import { type NodeMarks, type NodeState, taintId } from "./nodes";
import { runOnMachine, type SshAccess } from "./ssh";

const joinConfiguration = z.object({
  kind: z.literal("JoinConfiguration"),
  nodeRegistration: z.object({
    taints: z
      .array(
        z.object({
          key: z.string(),
          value: z.string().default(""),
          effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        }),
      )
      .default([]),
    kubeletExtraArgs: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  }),
});

/** The machine's own record of its marks. It is read only where the node has a mark that nobody asked for, which is rare. */
export async function registeredMarks(
  access: SshAccess,
  node: NodeState,
  wanted: NodeMarks,
  context: Context,
): Promise<NodeMarks> {
  if (!hasOthers(node, wanted)) {
    return { labels: {}, taints: [] };
  }
  const remote = {
    operation: "reading its first labels",
    machine: node.name,
    command: "sudo -n cat /etc/kubicorn/kubeadm.yaml",
    seconds: timeLimits.sshReady,
  };
  return marksIn(await runOnMachine(access, remote, context));
}

/** The marks in a machine's configuration for `kubeadm join`; none in what is no such thing. Pure. */
export function marksIn(text: string): NodeMarks {
  const documents = parseAllDocuments(text);
  const [found] = documents.flatMap((one) => joinConfiguration.safeParse(one.toJS()).data ?? []);
  const { taints, kubeletExtraArgs } = found?.nodeRegistration ?? { taints: [], kubeletExtraArgs: [] };
  const labels = kubeletExtraArgs
    .filter(({ name }) => name === "node-labels")
    .flatMap(({ value }) => value.split(","))
    .map((pair): [string, string] => [pair.split("=")[0] ?? "", pair.split("=")[1] ?? ""]);
  return { labels: Object.fromEntries(labels), taints };
}

/** Whether the node has a label or taint that is neither wanted nor of Kubernetes' own. */
function hasOthers(node: NodeState, wanted: NodeMarks): boolean {
  const ids = new Set(wanted.taints.map(taintId));
  const isOfKubernetes = (key: string) => /(^|\.)(kubernetes|k8s)\.io\//.test(key);
  return (
    Object.keys(node.labels).some((key) => !(key in wanted.labels) && !isOfKubernetes(key)) ||
    node.taints.some((taint) => !ids.has(taintId(taint)) && !isOfKubernetes(taint.key))
  );
}
