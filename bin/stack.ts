/**
 * The stack that a verb works on: whether it is there, and making it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type StackPlace, stateFileOf, stateFolderOf } from "../reconciler/stack-place";
import type { Backend } from "./backend";
import type { Project } from "./project";
import type { PulumiRunner } from "./pulumi";
import { UsageError } from "./usage-error";

export interface Stack {
  /** As Pulumi takes it: `local`, or `organization/project/local` where the backend has those. */
  readonly name: string;
  readonly project: Project;
  readonly backend: Backend;
}

/** Where the stack's state is kept. */
export function placeOf({ project, backend, name }: Stack): StackPlace {
  return { project: project.name, stack: shortName(name), fullName: name, backendFolder: backend.folder };
}

/** The stack's own file: configuration and the salt of its passphrase; not committed. */
export function stackFile({ project, name }: Stack): string {
  return join(project.stackFiles, `Pulumi.${shortName(name)}.yaml`);
}

/** The committed file that a stack's configuration starts from. */
export function profileFile({ project, name }: Stack): string {
  return join(project.folder, `Pulumi.${shortName(name)}.yaml`);
}

/** The folder with the state of all of the project's stacks, where the backend is a folder. */
export function stateFolder({ project, backend }: Pick<Stack, "project" | "backend">): string | undefined {
  return stateFolderOf({ project: project.name, backendFolder: backend.folder });
}

/** The stack's state, where the backend is a folder. */
export function stateFile(stack: Stack): string | undefined {
  return stateFileOf(placeOf(stack));
}

export async function stackExists(stack: Stack, pulumi: PulumiRunner): Promise<boolean> {
  const state = stateFile(stack);
  if (state !== undefined) {
    return existsSync(state);
  }
  return (await pulumi.ask(["stack", "ls", "--json"])).includes(`"${shortName(stack.name)}"`);
}

export async function makeStack(stack: Stack, pulumi: PulumiRunner): Promise<void> {
  try {
    await pulumi.ask(["stack", "init", stack.name, "--no-select"]);
  } catch (error) {
    // Another run beside this one may have made it meanwhile.
    if (!(await stackExists(stack, pulumi))) {
      throw error;
    }
  }
}

/** The stack's own part of its name: `local` of `organization/project/local`. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Refuses a name that Pulumi would, before anything is made: it becomes part of file names. */
export function requireStackName(name: string): void {
  const parts = name.split("/");
  if (parts.length > 3 || !parts.every((part) => /^[A-Za-z0-9_.-]{1,100}$/.test(part) && !/^\.+$/.test(part))) {
    throw new UsageError(
      `"${name}" cannot be a stack's name: up to 100 letters, digits, "-", "_" and "." are allowed, after ` +
        '"organization/project/" where the backend has those. Nothing was changed.',
    );
  }
}
