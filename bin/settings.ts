/**
 * The stack's configuration as the program will see it, for the few decisions that come before the program runs.
 */
import { join } from "node:path";
import { isPlainObject } from "../cloud/json";
import { type Stack, stackFile } from "./stack";
import { configIn } from "./stack-file";

/** A look-up by a setting's name: in the stack's own file, else the default that Pulumi.yaml declares. */
export async function settingsOf(stack: Stack): Promise<(name: string) => unknown> {
  const own = await configIn(stackFile(stack));
  const project = await configIn(join(stack.project.folder, "Pulumi.yaml"));
  return (name) => {
    const key = `${stack.project.name}:${name}`;
    const declared = project[name] ?? project[key];
    return own[key] ?? (isPlainObject(declared) ? declared.default : declared);
  };
}
