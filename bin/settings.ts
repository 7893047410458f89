/**
 * The stack's configuration as the program will see it, for the few decisions that come before the program runs.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isPlainObject } from "../cloud/json";
import { type Stack, stackFile } from "./stack";

/** A look-up by a setting's name: in the stack's own file, else the default that Pulumi.yaml declares. */
export async function settingsOf(stack: Stack): Promise<(name: string) => unknown> {
  const { parse } = await import("yaml");
  const configIn = (file: string): Record<string, unknown> => {
    const content: unknown = existsSync(file) ? parse(readFileSync(file, "utf8")) : {};
    return isPlainObject(content) && isPlainObject(content.config) ? content.config : {};
  };
  const own = configIn(stackFile(stack));
  const project = configIn(join(stack.project.folder, "Pulumi.yaml"));
  return (name) => {
    const key = `${stack.project.name}:${name}`;
    const declared = project[name] ?? project[key];
    return own[key] ?? (isPlainObject(declared) ? declared.default : declared);
  };
}
