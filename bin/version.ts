/**
 * `version`: this package and all that it works with on this computer. Sets nothing up.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../cloud/errors";
import { kubernetesVersions } from "../cloud/spec";
import { findContainerEngine } from "../setup/container-engine";
import { packageRoot } from "../setup/package-root";
import { findPulumiCli } from "../setup/pulumi-cli";
import { printAs } from "./output";
import { table } from "./table";

/** In place of what is not there: why. */
interface Absent {
  readonly problem: string;
}

export interface Versions {
  readonly kubicorn: string;
  /** Of Kubernetes, the default one first. */
  readonly kubernetes: readonly string[];
  readonly pulumi: { readonly version: string; readonly folder: string } | Absent;
  readonly node: string;
  readonly engine: { readonly name: string; readonly version: string } | Absent;
}

/** @param format the value of `--output` */
export async function version(format: string | undefined): Promise<number> {
  const [pulumi, engine] = await Promise.all([pulumiVersion().catch(absent), engineVersion().catch(absent)]);
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")));
  const value = { kubicorn: version, kubernetes: kubernetesVersions, pulumi, node: process.versions.node, engine };
  await printAs(format, { value, table: () => versionTable(value) });
  return 0;
}

/** What a person gets. */
export function versionTable({ kubicorn, kubernetes, pulumi, node, engine }: Versions): string {
  return table(
    ["what", "version", "which"],
    [
      ["pulumi-kubicorn", kubicorn],
      ["Kubernetes", kubernetes.join(", ")],
      ["Pulumi CLI", ...("problem" in pulumi ? ["none", pulumi.problem] : [pulumi.version, pulumi.folder])],
      ["Node.js", node],
      ["container engine", ...("problem" in engine ? ["none", engine.problem] : [engine.version, engine.name])],
    ],
  );
}

async function pulumiVersion(): Promise<Versions["pulumi"]> {
  const cli = await findPulumiCli();
  if (cli === undefined) {
    return { problem: "the first run that needs it sets it up" };
  }
  const { execa } = await import("execa");
  const { stdout } = await execa(join(cli.folder, "pulumi"), ["version"], {
    env: { PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeout: 20_000,
  });
  return { version: stdout.trim().replace(/^v/, ""), folder: cli.folder };
}

async function engineVersion(): Promise<Versions["engine"]> {
  const engine = await findContainerEngine();
  const told = await engine.run("asking for its version", ["version", "--format", "{{.Client.Version}}"], {
    seconds: 20,
  });
  return { name: engine.name, version: told.trim() };
}

/** The first line of an error, since further ones are advice for those who want to make a cluster. */
function absent(error: unknown): Absent {
  return { problem: messageOf(error).split("\n")[0] ?? "" };
}
