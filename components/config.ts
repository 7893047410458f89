/**
 * The stack's configuration as a cluster spec: one configuration key for each top-level setting.
 */
import { getProject, getStack, runtime } from "@pulumi/pulumi";
import type { ClusterArguments } from "../cloud/spec";

/** Settings whose value is structured; the engine hands these over as JSON text. */
const structured = new Set(["network", "controlPlane", "pools"]);

/**
 * The spec that the stack's configuration describes, not yet checked: the Cluster does that.
 * Keys that are no settings are kept, so that a misspelt one is refused and not ignored.
 */
export function clusterFromConfig(): ClusterArguments {
  const prefix = `${getProject()}:`;
  const settings = Object.entries(runtime.allConfig())
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, text]) => {
      const setting = key.slice(prefix.length);
      return [setting, structured.has(setting) ? parseJson(text) : text];
    });
  return { name: getStack(), ...Object.fromEntries(settings) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
