/**
 * The `kubicorn` command: one of its verbs, and how errors and interruptions end it.
 */
import { messageOf, UserError } from "../cloud/errors";
import { explained } from "../setup/unwritable";
import { parseArguments } from "./arguments";
import { exitCodes } from "./exit-codes";
import { commandHelp, verbHelp } from "./help";
import { Interruption } from "./interruption";
import { parseOwnArguments } from "./own-arguments";
import { print } from "./print";
import { sensibleUmask } from "./surroundings";
import { didYouMean, UsageError } from "./usage-error";
import type { Verb } from "./verb";
import { verbs } from "./verbs";

async function main(given: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = given;
  if (/^(--help|-h|help)$/.test(name)) {
    await print(commandHelp());
    return 0;
  }
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (!verb) {
    const names = Object.keys(verbs);
    const meant = didYouMean(name, names) || `. There are: ${names.join(", ")}.`;
    throw new UsageError(`There is no verb ${name}${meant} See kubicorn --help.`);
  }
  const call = callOf(name, verb, rest);
  if (call === "help") {
    await print(verbHelp(name, verb));
    return 0;
  }
  process.umask(sensibleUmask(process.umask()));
  const interruption = new Interruption();
  try {
    return await call(interruption);
  } catch (error) {
    if (interruption.exitCode !== undefined) {
      process.stderr.write("Interrupted. Run the same again to go on.\n");
      return interruption.exitCode;
    }
    throw error;
  } finally {
    interruption.dispose();
  }
}

/** The verb with its arguments, which are checked before anything begins; or that only its help is wanted. */
function callOf(
  name: string,
  verb: Verb,
  given: readonly string[],
): "help" | ((interruption: Interruption) => Promise<number>) {
  if (verb.options) {
    const args = parseOwnArguments(name, verb, given);
    return args.help ? "help" : (interruption) => verb.run(args, interruption);
  }
  const args = parseArguments(given);
  return args.help ? "help" : (interruption) => verb.run(args, interruption);
}

function tell(failure: unknown): void {
  const error = explained(failure);
  const expected = error instanceof UserError;
  process.stderr.write(`${messageOf(error)}\n`);
  if (!expected && error instanceof Error && process.env.KUBICORN_DEBUG) {
    process.stderr.write(`${error.stack}\n`);
  }
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    tell(error);
    process.exitCode = error instanceof UsageError ? exitCodes.notUnderstood : exitCodes.failed;
  },
);
