/**
 * The pod network's objects: flannel's daemon on every machine, as YAML. Pure.
 * It routes between machines; what pods of one machine need is written there by pod-network.sh.
 */
import { documents, type Endpoint } from "./kubeadm-config";

/** `host-gw` where all machines share one network segment, `vxlan` elsewhere. */
export type PodNetworkBackend = "host-gw" | "vxlan";

export interface PodNetwork {
  readonly podRange: string;
  readonly backend: PodNetworkBackend;
  readonly endpoint: Endpoint;
}

/** The version of flannel; the machine image holds the same one. */
export const flannelVersion = "0.28.10";
const image = `ghcr.io/flannel-io/flannel:v${flannelVersion}`;

const namespace = "kube-flannel";
const labels = { app: "flannel" };

/** The objects, in the order in which they can be made. */
export function podNetworkManifest({ podRange, backend, endpoint }: PodNetwork): string {
  const configuration = { Network: podRange, Backend: { Type: backend } };
  return documents([
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "privileged" } },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "flannel", namespace } },
    clusterRole,
    clusterRoleBinding,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "flannel", namespace },
      data: { "net-conf.json": `${JSON.stringify(configuration)}\n` },
    },
    daemonSet(endpoint),
  ]);
}

const clusterRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "flannel" },
  rules: [
    { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
    { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
  ],
};

const clusterRoleBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name: "flannel" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "flannel" },
  subjects: [{ kind: "ServiceAccount", name: "flannel", namespace }],
};

function daemonSet(endpoint: Endpoint): object {
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "flannel", namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          priorityClassName: "system-node-critical",
          serviceAccountName: "flannel",
          // Nodes are not ready before flannel runs on them, whatever other taints they have.
          tolerations: [{ operator: "Exists" }],
          containers: [container(endpoint)],
          volumes: [
            { name: "run", hostPath: { path: "/run/flannel", type: "DirectoryOrCreate" } },
            { name: "xtables-lock", hostPath: { path: "/run/xtables.lock", type: "FileOrCreate" } },
            { name: "configuration", configMap: { name: "flannel" } },
          ],
        },
      },
    },
  };
}

function container(endpoint: Endpoint): object {
  return {
    name: "flannel",
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/opt/bin/flanneld"],
    args: ["--ip-masq", "--kube-subnet-mgr"],
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      // By the endpoint's name rather than by the Service, which works only after kube-proxy has run.
      { name: "KUBERNETES_SERVICE_HOST", value: endpoint.name },
      { name: "KUBERNETES_SERVICE_PORT", value: String(endpoint.port) },
    ],
    resources: { requests: { cpu: "50m", memory: "50Mi" } },
    securityContext: { privileged: false, capabilities: { add: ["NET_ADMIN", "NET_RAW"] } },
    volumeMounts: [
      { name: "run", mountPath: "/run/flannel" },
      { name: "xtables-lock", mountPath: "/run/xtables.lock" },
      { name: "configuration", mountPath: "/etc/kube-flannel" },
    ],
  };
}
