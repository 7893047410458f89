/**
 * What machines on this computer need before the first of them can be made: a container engine and the machine image.
 * Once both were there for a configuration, later runs with it do not look again; a run that fails makes them look.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isatty } from "node:tty";
import { bootId } from "../setup/boot-id";
import { packageRoot } from "../setup/package-root";
import { recipeHash } from "../setup/recipe-hash";
import { withStep } from "../setup/step";
import { settingsOf } from "./settings";
import { type Stack, shortName, stackFile } from "./stack";

export interface Preparation {
  readonly stack: Stack;
  readonly kubernetesVersion: string;
  /** Whether the person has said yes to everything beforehand. */
  readonly yes: boolean;
}

/** The Kubernetes version to prepare for; `undefined` where all is there, or the stack's machines are elsewhere. */
export async function unpreparedVersion(stack: Stack): Promise<string | undefined> {
  const marker = markerOf(stack);
  if (existsSync(marker) && readFileSync(marker, "utf8") === (await stateOf(stack))) {
    return undefined;
  }
  const { kubernetesVersions } = await import("../cloud/spec");
  const setting = await settingsOf(stack);
  const version = setting("kubernetesVersion") ?? kubernetesVersions[0];
  // Of a version that is not known, the program says what is allowed.
  return setting("cloud") === "local" ? kubernetesVersions.find((known) => known === version) : undefined;
}

/** Finds a container engine, or offers to install one. Comes first, since it may have to ask. */
export async function prepareEngine({ yes }: Pick<Preparation, "yes">, signal: AbortSignal): Promise<void> {
  const { ensureContainerEngine } = await import("../setup/container-engine");
  const { askYesOrNo } = await import("./ask");
  const ask = isatty(0) && isatty(2) ? (question: string) => askYesOrNo(question, signal) : undefined;
  await withStep("container engine", (step) => ensureContainerEngine(step, { yes, ask }), { signal, quiet: true });
}

/** Makes the machine image, where it is not there. */
export async function prepareImage({ stack, kubernetesVersion }: Preparation, signal: AbortSignal): Promise<void> {
  const { ensureMachineImage } = await import("../setup/machine-image");
  await withStep("machine image", (step) => ensureMachineImage({ kubernetesVersion }, step), { signal, quiet: true });
  const marker = markerOf(stack);
  mkdirSync(dirname(marker), { recursive: true });
  writeFileSync(marker, await stateOf(stack));
}

/** Makes the next run look again. */
export function forgetPreparation(stack: Stack): void {
  rmSync(markerOf(stack), { force: true });
}

/** Stands for all that this depends on: the configuration, how images are made, and the start of this computer. */
async function stateOf(stack: Stack): Promise<string> {
  const own = stackFile(stack);
  return recipeHash([join(packageRoot(), "images", "node"), ...(existsSync(own) ? [own] : [])], [await bootId()]);
}

function markerOf(stack: Stack): string {
  return join(stack.project.stackFiles, ".prepared", shortName(stack.name));
}
