/**
 * Names: which ones are legal, and how a name is composed within a limit.
 * Every name of a cloud or machine thing comes from `composeName`.
 */
import { createHash } from "node:crypto";

/**
 * How long names of a kind may be, in characters, and where that is written down. A kind that takes less than a label
 * (no "-", or no upper case) is not in the table: `composeName` makes labels.
 */
export const nameLimits = {
  /** Kubernetes: "Object Names and IDs", RFC 1123 label. */
  kubernetesLabel: 63,
  /** Linux: sethostname(2), HOST_NAME_MAX is 64; Kubernetes node names must be DNS labels to be host names. */
  hostName: 63,
  /** AWS: Elastic Load Balancing API reference, CreateLoadBalancer and CreateTargetGroup, `Name`. */
  awsLoadBalancer: 32,
  awsTargetGroup: 32,
  /** AWS: IAM API reference, CreateRole `RoleName`, CreateInstanceProfile `InstanceProfileName`. */
  awsRole: 64,
  awsInstanceProfile: 128,
  /** AWS: EC2 API reference, CreateLaunchTemplate `LaunchTemplateName`, CreateSecurityGroup `GroupName`, `KeyName`. */
  awsLaunchTemplate: 128,
  awsSecurityGroup: 255,
  awsKeyPair: 255,
  /** AWS: Auto Scaling API reference, CreateAutoScalingGroup `AutoScalingGroupName`. */
  awsAutoScalingGroup: 255,
  /** Google Cloud: Compute Engine "Naming resources", RFC 1035 label; "Labels", keys and values. */
  googleResource: 63,
  googleLabel: 63,
  /** Google Cloud: IAM "Create service accounts", 6 to 30 characters. */
  googleServiceAccount: 30,
  /** Azure: "Naming rules and restrictions for Azure resources". */
  azureResourceGroup: 90,
  azureVirtualMachine: 64,
  azureLoadBalancer: 80,
  azureNetwork: 64,
} as const;

/** A lower-case RFC 1123 label: the strictest rule that every cloud and Kubernetes share. */
export const labelPattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

const hashLength = 6;

/**
 * The parts joined by "-". Where that is longer than the limit, the head of it and a hash of the whole,
 * so that two long names never become the same one.
 *
 * @param limit the longest allowed, in characters; at least 16
 */
export function composeName(parts: readonly string[], limit: number): string {
  const whole = parts.join("-");
  if (whole.length <= limit) {
    return whole;
  }
  const head = whole.slice(0, limit - hashLength - 1).replace(/-+$/, "");
  return `${head}-${shortHash(whole)}`;
}

/** Six hexadecimal digits that stand for the text. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, hashLength);
}
