/**
 * Before the layers that run the real engine: the Pulumi CLI is there, made if need be, and first on PATH.
 */
import { delimiter } from "node:path";
import { ensurePulumiCli } from "../setup/pulumi-cli";

export default async function setup(): Promise<void> {
  const { folder } = await ensurePulumiCli();
  const path = process.env.PATH ?? "";
  if (!path.startsWith(folder + delimiter)) {
    process.env.PATH = folder + delimiter + path;
  }
}
