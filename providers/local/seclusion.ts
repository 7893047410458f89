/**
 * What keeps this computer's surroundings out of containers, and what lets a named part of them in.
 */
import type { EngineName } from "./engine";

const proxyNames = ["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/**
 * Arguments of `create` and `run` that keep the person's proxies out. Engines hand them to every container, with the
 * password in them, and write them into the image that is made of it; inside a cluster they would only be in the way.
 */
export function withoutProxies(engine: EngineName): string[] {
  // docker takes them from its own configuration, and only variables that are given win over that.
  return engine === "podman" ? ["--http-proxy=false"] : proxyNames.flatMap((name) => ["--env", `${name}=`]);
}

/** The environment's proxies, a line each as `name=value`, for a program in a container that reads them. */
export function proxyLines(environment: NodeJS.ProcessEnv = process.env): string {
  const set = proxyNames.filter((name) => environment[name] && !/[\r\n]/.test(environment[name]));
  return set.map((name) => `${name}=${environment[name]}\n`).join("");
}

/** Arguments that show a folder of this computer in a container, whatever characters its path has; read-only. */
export function bindMount(source: string, target: string): string[] {
  // Engines read the argument as one line of comma-separated values.
  return ["--mount", `type=bind,"source=${source.replaceAll('"', '""')}",target=${target},readonly`];
}
