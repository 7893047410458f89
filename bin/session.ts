/**
 * Everything that a verb needs before Pulumi can run: the project, its backend, the passphrase, the CLI, the stack.
 */
import { accessSync, constants } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePulumiCli, type PulumiCli } from "../setup/pulumi-cli";
import { temporaryFolder } from "../setup/temporary-folder";
import type { Arguments } from "./arguments";
import { chooseBackend, ensureStateFolder, ownStateFolder } from "./backend";
import type { Interruption } from "./interruption";
import { passphraseEnvironment } from "./passphrase";
import { applyProfile } from "./profile";
import { findProject } from "./project";
import { type PulumiRunner, pulumiRunner } from "./pulumi";
import { makeStack, requireStackName, type Stack, stackExists, stackFile } from "./stack";
import { requireReadable } from "./stack-file";

export interface Session {
  readonly stack: Stack;
  readonly pulumi: PulumiRunner;
  /** What plain `pulumi` would need in its environment to do the same, PATH aside. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the CLI, first on PATH. */
  readonly cli: string;
}

/** The stack that the arguments name, without looking whether it is there. */
export async function locateStack(args: Arguments): Promise<Stack> {
  requireStackName(args.stack);
  const project = await findProject(args.cwd ?? process.cwd());
  return { name: args.stack, project, backend: chooseBackend(project) };
}

export async function openSession(stack: Stack, interruption: Interruption, signal: AbortSignal): Promise<Session> {
  ensureStateFolder(stack.backend);
  const passphrase = await passphraseEnvironment(stack.project, stack.backend);
  const cli = await ensurePulumiCli({ signal });
  const environment = { ...pulumiEnvironment(stack, cli), ...passphrase };
  const onPath = { ...environment, PATH: `${cli.folder}:${process.env.PATH ?? ""}` };
  const surroundings = { cli: cli.folder, project: stack.project.folder, environment: onPath };
  return { stack, environment, cli: cli.folder, pulumi: pulumiRunner(surroundings, interruption) };
}

/** Brings the stack's configuration up to date with the committed profile. */
export async function configureStack(stack: Stack): Promise<void> {
  for (const sentence of await applyProfile(stack)) {
    say(sentence);
  }
  await requireReadable(stackFile(stack));
}

/** @returns whether it had to be made */
export async function ensureStack({ stack, pulumi }: Session): Promise<boolean> {
  if (await stackExists(stack, pulumi)) {
    return false;
  }
  await makeStack(stack, pulumi);
  say(`Made the stack ${stack.name}.`);
  return true;
}

/** One line of our own. Standard output is only for what was asked for, so that it can be piped. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function pulumiEnvironment(stack: Stack, cli: PulumiCli): Record<string, string> {
  return {
    ...(stack.backend.own && { PULUMI_BACKEND_URL: stack.backend.url }),
    // A machine that boots holds one of Pulumi's slots, and by default there are four a processor.
    PULUMI_PARALLEL: process.env.PULUMI_PARALLEL || "32",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...withoutProxy(process.env),
    ...(temporaryFolder() !== tmpdir() && { TMPDIR: temporaryFolder() }),
    ...(cli.built && { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" }),
    ...(!homeIsUsable() && { PULUMI_HOME: process.env.PULUMI_HOME || join(ownStateFolder(stack.project), "home") }),
  };
}

/**
 * Keeps a proxy out of what stays on this computer: Pulumi and its plugins talk to each other over the loopback address,
 * and so do we to our machines.
 */
export function withoutProxy(environment: NodeJS.ProcessEnv): Record<string, string> {
  if (!Object.keys(environment).some((name) => /^(https?|all|grpc)_proxy$/i.test(name))) {
    return {};
  }
  const given = (environment.no_proxy || environment.NO_PROXY || "").split(",").filter((entry) => entry !== "");
  const all = [...new Set([...given, "127.0.0.1", "localhost", "::1"])].join(",");
  return { NO_PROXY: all, no_proxy: all };
}

/** Whether Pulumi can keep its own folder, ~/.pulumi, where it wants to. */
function homeIsUsable(): boolean {
  try {
    accessSync(homedir(), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
