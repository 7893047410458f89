/**
 * `env`: the exports with which plain `pulumi` does the same as this command.
 */
import type { Arguments } from "./arguments";
import type { Interruption } from "./interruption";
import { print } from "./print";
import { configureStack, ensureStack, locateStack, openSession } from "./session";

export async function printEnvironment(args: Arguments, interruption: Interruption): Promise<number> {
  const stack = await locateStack(args);
  await configureStack(stack);
  const session = await openSession(stack, interruption, interruption.signal);
  await ensureStack(session);
  const lines = Object.entries(session.environment).map(([name, value]) => `export ${name}=${shellQuoted(value)}`);
  await print(`${[...lines, `export PATH=${shellQuoted(session.cli)}:"$PATH"`].join("\n")}\n`);
  return 0;
}

/** The text as one word of a shell, whatever it holds. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
