/**
 * Fields of KubeletConfiguration that a person may set for machines: which there are, and which belong to us.
 * What a field's value means is kubelet's own matter; a value that it refuses is told in its words.
 */
import { z } from "zod";
import { isPlainObject, type Json } from "./json";
import { similarWord } from "./similar-word";

export type KubeletSettings = Readonly<Record<string, Json>>;

type Kind = "boolean" | "whole" | "number" | "text" | "duration" | "texts" | "switches" | "list" | "settings";

/** The fields of kubelet.config.k8s.io/v1beta1 in Kubernetes 1.37 that may be set, by the kind of their value. */
const fields: Readonly<Record<Kind, string>> = {
  boolean: `cgroupsPerQOS cpuCFSQuota enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler
    enableDebuggingHandlers enableProfilingHandler enableSystemLogHandler enableSystemLogQuery kernelMemcgNotification
    localStorageCapacityIsolation makeIPTablesUtilChains mergeDefaultEvictionSettings protectKernelDefaults seccompDefault
    serializeImagePulls singleProcessOOMKill`,
  whole: `containerLogMaxFiles containerLogMaxWorkers eventBurst eventRecordQPS evictionMaxPodGracePeriod
    imageGCHighThresholdPercent imageGCLowThresholdPercent iptablesDropBit iptablesMasqueradeBit kubeAPIBurst kubeAPIQPS
    maxOpenFiles maxParallelImagePulls maxPods nodeLeaseDurationSeconds nodeStatusMaxImages oomScoreAdj podPidsLimit
    podsPerCore readOnlyPort registryBurst registryPullQPS`,
  number: "memoryThrottlingFactor",
  text: `cgroupRoot configMapAndSecretChangeDetectionStrategy containerLogMaxSize contentType cpuManagerPolicy hairpinMode
    imagePullCredentialsVerificationPolicy imageServiceEndpoint kubeReservedCgroup kubeletCgroups memoryManagerPolicy
    memoryReservationPolicy podLogsDir reservedSystemCPUs resolvConf showHiddenMetricsForVersion systemCgroups
    systemReservedCgroup tlsMinVersion topologyManagerPolicy topologyManagerScope volumePluginDir`,
  duration: `containerLogMonitorInterval cpuCFSQuotaPeriod cpuManagerReconcilePeriod evictionPressureTransitionPeriod
    fileCheckFrequency httpCheckFrequency imageMaximumGCAge imageMinimumGCAge nodeStatusReportFrequency
    nodeStatusUpdateFrequency runtimeRequestTimeout shutdownGracePeriod shutdownGracePeriodCriticalPods
    streamingConnectionIdleTimeout syncFrequency volumeStatsAggPeriod`,
  texts: `cpuManagerPolicyOptions defaultPodSysctls evictionHard evictionMinimumReclaim evictionSoft evictionSoftGracePeriod
    kubeReserved qosReserved systemReserved topologyManagerPolicyOptions`,
  switches: "featureGates",
  list: `allowedUnsafeSysctls enforceNodeAllocatable preloadedImagesVerificationAllowlist reservedMemory
    shutdownGracePeriodByPodPriority tlsCipherSuites tlsCurvePreferences`,
  settings: "crashLoopBackOff logging memorySwap tracing userNamespaces",
};

const kinds: ReadonlyMap<string, Kind> = new Map(
  (Object.keys(fields) as Kind[]).flatMap((kind) => fields[kind].split(/\s+/).map((field) => [field, kind] as const)),
);

const byTheCluster = "every machine of the cluster needs the same, and gets it from the cluster";
const byTheMachine = "it is found out on each machine";
const certificates = "kubelet has and renews a certificate of the cluster's own CA";
const staticPods = "kubeadm keeps the control plane's pods there";
const reachable = "the API server has to reach kubelet, for logs and for commands in pods";

/** Fields that are ours, with the reason. */
const reserved: Readonly<Record<string, string>> = {
  apiVersion: "it is the version of the settings, and always ours",
  kind: "it is the kind of the settings, and always ours",
  address: reachable,
  port: reachable,
  enableServer: reachable,
  authentication: "kubelet takes orders from the API server only, as kubeadm sets it up",
  authorization: "kubelet takes orders from the API server only, as kubeadm sets it up",
  cgroupDriver: byTheMachine,
  failCgroupV1: byTheMachine,
  failSwapOn: byTheMachine,
  clusterDNS: byTheCluster,
  clusterDomain: byTheCluster,
  containerRuntimeEndpoint: "the machine image has one container runtime, and kubeadm says where it is",
  healthzBindAddress: "kubeadm looks there whether kubelet has started",
  healthzPort: "kubeadm looks there whether kubelet has started",
  podCIDR: "the cluster gives each machine its part of network.pods",
  providerID: byTheMachine,
  registerNode: "a machine that registers no node would be waited for in vain",
  registerWithTaints: "the taints of a pool are its setting taints",
  rotateCertificates: certificates,
  runOnce: "kubelet would end after its first pods",
  serverTLSBootstrap: "nobody in the cluster would approve the certificates that kubelet then asks for",
  staticPodPath: staticPods,
  staticPodURL: staticPods,
  staticPodURLHeader: staticPods,
  tlsCertFile: certificates,
  tlsPrivateKeyFile: certificates,
};

/** Each machine has 256 addresses for its pods, of which some are nobody's. */
const mostPods = 250;

const checks: Readonly<Record<Kind, readonly [(value: unknown) => boolean, string]>> = {
  boolean: [(value) => typeof value === "boolean", "true or false is expected"],
  whole: [(value) => Number.isSafeInteger(value), "a whole number is expected, without quotes"],
  number: [(value) => typeof value === "number" && Number.isFinite(value), "a number is expected, without quotes"],
  text: [(value) => typeof value === "string", "a text is expected"],
  duration: [
    (value) => typeof value === "string" && durationPattern.test(value),
    'a duration is expected, as in "1m30s"',
  ],
  texts: [
    (value) => isPlainObject(value) && Object.values(value).every((item) => typeof item === "string"),
    'texts by name are expected, as in { "memory.available": "200Mi" }; quote numbers',
  ],
  switches: [
    (value) => isPlainObject(value) && Object.values(value).every((item) => typeof item === "boolean"),
    "true or false by name is expected",
  ],
  list: [(value) => Array.isArray(value) && isJson(value), "a list is expected, without empty values"],
  settings: [(value) => isPlainObject(value) && isJson(value), "settings by name are expected, without empty values"],
};

/** As Go writes and reads durations. */
const durationPattern = /^0$|^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/;

/** A machine's kubelet settings. */
export const kubeletSettingsSchema = z
  .record(z.string(), z.custom<Json>(), { error: "fields of KubeletConfiguration are expected, as in { maxPods: 50 }" })
  .superRefine((settings, context) => {
    for (const [field, value] of Object.entries(settings)) {
      const problem = problemOf(field, value);
      if (problem !== undefined) {
        context.addIssue({ code: "custom", message: problem, path: [field], input: value });
      }
    }
  });

/** What is wrong with one field; `undefined` where nothing is. */
function problemOf(field: string, value: unknown): string | undefined {
  const reason = Object.hasOwn(reserved, field) ? reserved[field] : undefined;
  if (reason !== undefined) {
    return `this field cannot be set here: ${reason}`;
  }
  const kind = kinds.get(field);
  if (kind === undefined) {
    return `KubeletConfiguration has no such field${similarTo(field)}`;
  }
  const [fits, expected] = checks[kind];
  if (!fits(value)) {
    return expected;
  }
  const tooMany = field === "maxPods" && ((value as number) < 1 || (value as number) > mostPods);
  return tooMany ? `a whole number from 1 to ${mostPods} is allowed, since a machine has 256 pod addresses` : undefined;
}

function similarTo(field: string): string {
  const similar = similarWord(field, kinds.keys());
  return similar === undefined ? "" : `; ${similar} is probably meant`;
}

/** Whether it is plain JSON without null: what is not to be set is left out. */
function isJson(value: unknown): value is Json {
  if (Array.isArray(value)) {
    return value.every(isJson);
  }
  if (isPlainObject(value)) {
    return Object.values(value).every(isJson);
  }
  return (
    typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}
