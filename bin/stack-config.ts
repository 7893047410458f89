/**
 * The stack's configuration as the next run will have it, told without writing anything: in its own file, which may not
 * have the profile's latest change yet, else as Pulumi.yaml declares it.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPlainObject } from "../cloud/json";
import { mergeConfig } from "./profile";
import { profileFile, type Stack, shortName, stackFile } from "./stack";
import { configIn, requireReadable } from "./stack-file";

/** Values by their whole key, as in `pulumi-kubicorn:pools`. */
export type StackConfig = Readonly<Record<string, unknown>>;

export async function nextConfig(stack: Stack): Promise<StackConfig> {
  const declared = await configIn(join(stack.project.folder, "Pulumi.yaml"));
  return { ...withDefaults(declared, stack.project.name), ...(await ownConfig(stack)) };
}

/** The values as the engine hands them to a program: texts, and JSON where there is a structure. */
export function asTexts(config: StackConfig): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/**
 * The values that a project's own file gives to settings.
 *
 * @param declared what stands under `config:` in Pulumi.yaml, where a key without a project's name means this project's
 */
export function withDefaults(declared: StackConfig, project: string): StackConfig {
  return Object.fromEntries(
    Object.entries(declared).flatMap(([key, declaration]) => {
      const value = isPlainObject(declaration) ? (declaration.value ?? declaration.default) : declaration;
      return value === undefined ? [] : [[key.includes(":") ? key : `${project}:${key}`, value]];
    }),
  );
}

async function ownConfig(stack: Stack): Promise<StackConfig> {
  const [profile, own] = [profileFile(stack), stackFile(stack)];
  const file = existsSync(own) ? own : profile;
  await requireReadable(file);
  const config = await configIn(file);
  if (file === profile || !existsSync(profile)) {
    return config;
  }
  const applied = await configIn(join(dirname(own), ".applied", `${shortName(stack.name)}.yaml`));
  return mergeConfig(applied, await configIn(profile), config).merged;
}
