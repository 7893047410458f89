/**
 * kubeadm's configuration (v1beta4) and the discovery file of a join, as YAML. Pure.
 * What only a machine can tell, as its cgroup driver, is a patch that prepare.sh makes there.
 */
import { canonicalText, type Json } from "../cloud/json";
import type { KubeletSettings } from "../cloud/kubelet-settings";
import { mayRegisterWith } from "../cloud/node-marks";
import type { Taint } from "../cloud/spec";
import { yamlText } from "../cloud/yaml";

export interface Endpoint {
  /** A name that outlives every machine. */
  readonly name: string;
  readonly port: number;
}

export interface ControlPlaneConfiguration {
  readonly cluster: string;
  readonly machine: string;
  /** The exact version, without "v". */
  readonly kubernetesVersion: string;
  readonly endpoint: Endpoint;
  readonly podRange: string;
  readonly serviceRange: string;
  /** Whether ordinary pods may run on it. */
  readonly schedulable: boolean;
  /** Fields of KubeletConfiguration for every machine of the cluster. @default kubeadm's own */
  readonly kubelet?: Readonly<Record<string, Json>>;
}

export interface JoinConfiguration {
  readonly machine: string;
  /** The pool's name, which becomes a label of the node. */
  readonly pool?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

export interface Discovery {
  readonly endpoint: Endpoint;
  /** The cluster's CA certificate, PEM. */
  readonly caCertificate: string;
  /** A bootstrap token, `id.secret`. */
  readonly token: string;
}

/** Where the discovery file lies while a machine joins: in memory, never on a disk. join.sh has the same path. */
const discoveryPath = "/run/kubicorn-discovery.conf";
const patches = { directory: "/etc/kubicorn/patches" };
/** A machine's own kubelet settings. Patches are applied by name, so these come after what prepare.sh knows of the machine. */
export const kubeletPatchFile = `${patches.directory}/kubeletconfiguration1+merge.json`;
const kubeadm = "kubeadm.k8s.io/v1beta4";
const criSocket = "unix:///run/containerd/containerd.sock";

/** What `kubeadm init` is given. */
export function controlPlaneConfiguration(cluster: ControlPlaneConfiguration): string {
  const { endpoint } = cluster;
  return documents([
    {
      apiVersion: kubeadm,
      kind: "InitConfiguration",
      // kubeadm makes a token of its own in any case; joins have theirs, so this one ends at once.
      bootstrapTokens: [{ ttl: "1m0s", usages: ["authentication"] }],
      nodeRegistration: {
        name: cluster.machine,
        criSocket,
        imagePullPolicy: "IfNotPresent",
        taints: controlPlaneTaints(cluster.schedulable).map(withoutEmptyValue),
      },
      patches,
    },
    {
      apiVersion: kubeadm,
      kind: "ClusterConfiguration",
      clusterName: cluster.cluster,
      kubernetesVersion: `v${cluster.kubernetesVersion}`,
      controlPlaneEndpoint: `${endpoint.name}:${endpoint.port}`,
      // Made in milliseconds where RSA keys take a second of a small machine's start, and cheaper at every handshake.
      encryptionAlgorithm: "ECDSA-P256",
      networking: { podSubnet: cluster.podRange, serviceSubnet: cluster.serviceRange },
      // The person's own computer reaches the API through a port on its loopback address.
      apiServer: { certSANs: ["127.0.0.1", "localhost", endpoint.name] },
      // Its start is some two hundred calls; at the default of 20 a second no pod is made for the first five seconds.
      controllerManager: {
        extraArgs: [
          { name: "kube-api-qps", value: "100" },
          { name: "kube-api-burst", value: "200" },
        ],
      },
    },
    {
      apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
      kind: "KubeProxyConfiguration",
      // 0 leaves the kernel's own limit, which a container machine cannot write.
      conntrack: { maxPerCore: 0 },
    },
    {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      rotateCertificates: true,
      ...cluster.kubelet,
    },
  ]);
}

/** What `kubeadm join` is given; the credential comes with the discovery file. */
export function joinConfiguration({ machine, pool, labels, taints }: JoinConfiguration): string {
  const ownLabels = Object.entries(pool ? nodeLabels(pool, labels) : labels).filter(([key]) => mayRegisterWith(key));
  return documents([
    {
      apiVersion: kubeadm,
      kind: "JoinConfiguration",
      discovery: { file: { kubeConfigPath: discoveryPath } },
      nodeRegistration: {
        name: machine,
        criSocket,
        imagePullPolicy: "IfNotPresent",
        // From the first moment on, so that no pod lands on a node that does not want it.
        taints: taints.map(withoutEmptyValue),
        ...(ownLabels.length > 0 && {
          kubeletExtraArgs: [{ name: "node-labels", value: ownLabels.map((pair) => pair.join("=")).join(",") }],
        }),
      },
      patches,
    },
  ]);
}

/** The text of that patch, in one line and equal for equal settings. */
export function kubeletPatch(settings: KubeletSettings): string {
  return canonicalText(settings);
}

/** The kubeconfig that a joining machine is given: where the API is, how to know it, and one credential. */
export function discoveryFile({ endpoint, caCertificate, token }: Discovery): string {
  return documents([
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "cluster",
          cluster: {
            server: `https://${endpoint.name}:${endpoint.port}`,
            "certificate-authority-data": Buffer.from(caCertificate).toString("base64"),
          },
        },
      ],
      users: [{ name: "join", user: { token } }],
      contexts: [{ name: "join", context: { cluster: "cluster", user: "join" } }],
      "current-context": "join",
    },
  ]);
}

/** The taints of a control-plane node. */
export function controlPlaneTaints(schedulable: boolean): Taint[] {
  return schedulable ? [] : [{ key: "node-role.kubernetes.io/control-plane", value: "", effect: "NoSchedule" }];
}

function withoutEmptyValue({ key, value, effect }: Taint): Partial<Taint> {
  return value ? { key, value, effect } : { key, effect };
}

/** All labels that a pool's nodes have from us. */
export function nodeLabels(pool: string, labels: Readonly<Record<string, string>>): Record<string, string> {
  return { ...labels, "kubicorn.io/pool": pool };
}

/** Objects as one YAML text of several documents. */
export function documents(objects: readonly object[]): string {
  return objects.map((object) => yamlText(object)).join("---\n");
}
