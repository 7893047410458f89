/**
 * Keys of labels and taints that a person may give to nodes, and those that Kubernetes or we give by ourselves. Pure.
 */

/** Domains of Kubernetes' own in which people set labels too, as Kubernetes documents it. */
const sharedDomains = /(^|\.)(node|node-restriction|node-role|topology|kubelet)\.kubernetes\.io$/;
const roles = "only kubeadm's control plane has this role, and other programs go by it";
const byKubernetes = "it belongs to Kubernetes, which sets it by itself";
const byUs = "it belongs to this program, which sets it by itself";

const reservedLabels: Readonly<Record<string, string>> = {
  "node-role.kubernetes.io/control-plane": roles,
  "node-role.kubernetes.io/master": roles,
  "node.kubernetes.io/instance-type": byKubernetes,
  "node.kubernetes.io/windows-build": byKubernetes,
};

/** Why the label may not be given to nodes; `undefined` where it may. */
export function reservedLabel(key: string): string | undefined {
  const domain = domainOf(key);
  if (isOurs(domain)) {
    return byUs;
  }
  return isOfKubernetes(domain) && !sharedDomains.test(domain) ? byKubernetes : reservedLabels[key];
}

/** Why the taint may not be given to nodes; `undefined` where it may. */
export function reservedTaint(key: string): string | undefined {
  const domain = domainOf(key);
  if (isOurs(domain)) {
    return byUs;
  }
  // The node controller sets and takes away those of node.kubernetes.io after what it sees of the node.
  return isOfKubernetes(domain) ? byKubernetes : undefined;
}

/** Whether kubelet may give itself the label when it registers; other ones have to be set through the API. */
export function mayRegisterWith(key: string): boolean {
  const domain = domainOf(key);
  return !isOfKubernetes(domain) || /(^|\.)(node|kubelet)\.kubernetes\.io$/.test(domain);
}

function isOurs(domain: string): boolean {
  return /(^|\.)kubicorn\.io$/.test(domain);
}

function isOfKubernetes(domain: string): boolean {
  return /(^|\.)(kubernetes|k8s)\.io$/.test(domain);
}

function domainOf(key: string): string {
  return key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
}
