/**
 * A command line that is not understood. It ends the command with an exit code of its own, so that a script can tell
 * a mistake in itself from a run that failed.
 */
import { UserError } from "../cloud/errors";
import { similarWord } from "../cloud/similar-word";

export class UsageError extends UserError {
  override readonly name = "UsageError";
}

/** "; did you mean --stack?", where one of the known words is like the given one. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = similarWord(given, known);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}
