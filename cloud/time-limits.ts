/**
 * Every time limit in one table, in seconds.
 * They are ends of patience, not expectations: a wait ends as soon as the thing is there.
 */
export const timeLimits = {
  /** One call to a container engine that makes or removes something. */
  containerEngine: 120,
  /** One stage of making the machine image: packages, programs, container images. */
  imageStage: 1800,
  /** How long a busy or restarting container engine is asked again. */
  containerEngineBusy: 5,
  /** From a machine's start until its SSH server answers with the pinned host key. */
  sshReady: 180,
  /** How long a machine that runs may leave an audit without an answer of its SSH server; one that was just started has none yet. */
  sshLook: 5,
  /** How long a machine may take to stop in good order before it is stopped at once. */
  machineStop: 10,
  /** One command over SSH that changes nothing. */
  sshCommand: 60,
  /** A look at a machine that a refresh takes beside its question to the API; no answer is no news. */
  machineLook: 5,
  /** Until a machine's bootstrap has prepared it (packages, container runtime, kubelet). */
  machinePrepared: 900,
  /** Until the first control plane's API server serves. */
  apiServing: 900,
  /** One call to the Kubernetes API. */
  apiCall: 20,
  /** `kubeadm join` on one machine. */
  join: 300,
  /** From the join until the node is Ready. */
  nodeReady: 300,
  /** Evicting every pod of one node, where its pool says nothing else. */
  drain: 300,
  /** How long a kubelet may be silent until its node counts as dead, so that nobody could end its pods. */
  kubeletSilence: 10,
  /** New settings of one kubelet, with its start, and its former ones again where it refuses them. */
  kubeletUpdate: 180,
  /** How long the replacement of one machine waits for its turn. It also ends with whatever it waits for. */
  turn: 86_400,
  /** How long nothing but such waiting may be under way before the run is taken for ended. */
  turnIdle: 10,
  /** A question to the Pulumi CLI that runs no program: a state, a version, a list. */
  pulumiQuestion: 300,
  /** How long Pulumi may take to end once it was interrupted, until it is hurried; then, until it is killed. */
  pulumiEnd: 120,
  pulumiHaste: 20,
} as const;
