/**
 * A state with its secrets readable, in memory only: Pulumi itself reads a copy that lies in a backend of its own, so that
 * the stack's own state is left alone.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Snapshot } from "../cloud/stack-engine";
import { temporaryFolder } from "../setup/temporary-folder";
import type { PulumiCli } from "./pulumi-command";
import { deploymentOf, parseSnapshot } from "./snapshot";

/**
 * @param stack its own part of its name
 * @returns the same state; each secret has its value as `plaintext`
 */
export async function readable(
  snapshot: Snapshot,
  { cli, project, stack }: { readonly cli: PulumiCli; readonly project: string; readonly stack: string },
): Promise<Snapshot> {
  const backend = await mkdtemp(join(temporaryFolder(), "kubicorn-state-"));
  try {
    const folder = join(backend, ".pulumi", "stacks", project);
    await mkdir(folder, { recursive: true });
    await writeFile(join(backend, ".pulumi", "meta.yaml"), "version: 1\n");
    const checkpoint = { stack: `organization/${project}/${stack}`, latest: deploymentOf(snapshot) };
    await writeFile(join(folder, `${stack}.json`), JSON.stringify({ version: 3, checkpoint }), { mode: 0o600 });
    const environment = { PULUMI_BACKEND_URL: pathToFileURL(backend).href };
    return parseSnapshot(await cli.ask(["stack", "export", "--show-secrets", "--stack", stack], { environment }));
  } finally {
    await rm(backend, { recursive: true, force: true });
  }
}
