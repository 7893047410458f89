/**
 * Names: which ones are legal, and how a name is composed within a limit.
 * Every name of a cloud or machine thing comes from `composeName`.
 */
import { createHash } from "node:crypto";

/** How long names of a kind may be, in characters, and where that is written down. */
export const nameLimits = {
  /** Kubernetes: "Object Names and IDs", RFC 1123 label. */
  kubernetesLabel: 63,
  /** Linux: sethostname(2), HOST_NAME_MAX is 64; Kubernetes node names must be DNS labels to be host names. */
  hostName: 63,
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
