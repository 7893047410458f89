/**
 * A question to the person at the terminal.
 */
import { createInterface } from "node:readline/promises";

/** True when the person says yes; no is the default. */
export async function askYesOrNo(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    terminal.close();
  }
}
