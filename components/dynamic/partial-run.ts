/**
 * Whether a run is about a part of the stack only, which the engine tells neither program nor provider.
 */
import { commandLine } from "./orphans";

/** Whether the engine, which has started this process, was told what to work on or what to leave out. */
export function isPartialRun(engineWords: readonly string[] = commandLine(process.ppid)): boolean {
  return engineWords.some((word) => /^(--(target|exclude)|-t|-x)/.test(word));
}
