/**
 * The stack's configuration as a cluster spec: one configuration key for each top-level setting.
 */
import { getProject, getStack, runtime } from "@pulumi/pulumi";
import { distance } from "fastest-levenshtein";
import { type ClusterArguments, clusterSpecSchema } from "../cloud/spec";

/** Settings whose value is structured; the engine hands these over as JSON text. */
const structured = new Set(["network", "controlPlane", "pools"]);

/**
 * The spec that the stack's configuration describes, not yet checked: the Cluster does that.
 * Keys that are no settings are kept, so that a misspelt one is refused and not ignored.
 */
export function clusterFromConfig(): ClusterArguments {
  return { name: getStack(), ...settingsIn(runtime.allConfig(), getProject()) };
}

/**
 * The settings among all keys of a stack's configuration. Pure.
 *
 * @param config values by their whole key, as in `pulumi-kubicorn:pools`
 * @param project the project's name, with which our keys begin
 * @returns values by setting; a key with a project's name that is misspelt is kept whole, so that it is refused as well
 */
export function settingsIn(config: Readonly<Record<string, string>>, project: string): Record<string, unknown> {
  const prefix = `${project}:`;
  const settings = Object.entries(config).flatMap(([key, text]) => {
    if (!key.startsWith(prefix)) {
      return isMisspelt(key, project) ? [[key, parseJson(text)] as const] : [];
    }
    const setting = key.slice(prefix.length);
    return [[setting, structured.has(setting) ? parseJson(text) : text] as const];
  });
  return Object.fromEntries(settings);
}

/** Whether a key that is not ours was meant to be: `kubicorn:pools`, `pulumi-kubicron:pools`. Others are those of providers. */
function isMisspelt(key: string, project: string): boolean {
  const [namespace = "", setting = ""] = key.split(":");
  const alike = distance(namespace.toLowerCase(), project.toLowerCase()) <= project.length / 5;
  const isPartOf = namespace !== "" && project.split("-").includes(namespace);
  return (alike || isPartOf) && Object.hasOwn(clusterSpecSchema.shape, setting);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
