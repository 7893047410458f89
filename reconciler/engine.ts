/**
 * The way into Pulumi's engine. Its Automation API is loaded only when it is asked for: programs need none of it.
 */
import type { StackEngine } from "../cloud/stack-engine";
import type { PulumiEngineOptions } from "./pulumi-engine";

export type { PulumiEngineOptions } from "./pulumi-engine";

/**
 * @returns the engine of that stack, which must be there
 * @throws UserError where the CLI or the stack is not there
 */
export async function pulumiEngine(options: PulumiEngineOptions): Promise<StackEngine> {
  const { openEngine } = await import("./pulumi-engine");
  return openEngine(options);
}
