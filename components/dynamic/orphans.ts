/**
 * Ends what a killed engine leaves behind besides its providers: the language host, which waits for it for ever.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Ends the language hosts that were started for the engine at that address. Linux only; elsewhere they stay. */
export function endLanguageHosts(engineAddress: string): void {
  for (const id of processIds()) {
    const words = commandLine(id);
    if (words[0]?.endsWith("pulumi-language-nodejs") && words.includes(engineAddress)) {
      process.kill(Number(id), "SIGTERM");
    }
  }
}

function processIds(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The words by which the process was started; none where that cannot be told. Linux only. */
export function commandLine(id: number | string): string[] {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
  } catch {
    // The process ended between the listing and the look, or this is no Linux.
    return [];
  }
}
