/**
 * The `kubicorn` command: one of its verbs, and how errors and interruptions end it.
 */
import { messageOf, UserError } from "../cloud/errors";
import { explained } from "../setup/unwritable";
import { parseArguments } from "./arguments";
import { commandHelp, verbHelp } from "./help";
import { Interruption } from "./interruption";
import { print } from "./print";
import { sensibleUmask } from "./surroundings";
import { verbs } from "./verbs";

async function main(given: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = given;
  if (/^(--help|-h|help)$/.test(name)) {
    await print(commandHelp());
    return 0;
  }
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (!verb) {
    throw new UserError(`There is no verb ${name}. There are: ${Object.keys(verbs).join(", ")}. See kubicorn --help.`);
  }
  const args = parseArguments(rest);
  if (args.help) {
    await print(verbHelp(name, verb));
    return 0;
  }
  process.umask(sensibleUmask(process.umask()));
  const interruption = new Interruption();
  try {
    return await verb.run(args, interruption);
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
    process.exitCode = 1;
  },
);
