/**
 * The person's yes to a change, asked at the terminal or given beforehand.
 */
import { isatty } from "node:tty";
import { UserError } from "../cloud/errors";
import { askYesOrNo } from "./ask";

/** Refuses, before anything is set up, where nobody can answer. @param verb what to run again, with --yes */
export function requireConsent(yes: boolean, verb: string): void {
  if (!yes && !(isatty(0) && isatty(2))) {
    throw new UserError(
      `There is no terminal to ask on whether to go on: add --yes, as in "kubicorn ${verb} --yes". Nothing was changed.`,
    );
  }
}

export async function consent(yes: boolean, question: string, signal: AbortSignal): Promise<boolean> {
  return yes || (await askYesOrNo(question, signal));
}
