/**
 * The arguments of a verb that hands nothing on to Pulumi, strictly: whatever it does not know is refused, with the
 * option that was most likely meant.
 */
import { parseArgs } from "node:util";
import { saysYes } from "./arguments";
import { didYouMean, UsageError } from "./usage-error";
import { commonOptions, type Option, type Options, type OwnArguments, type OwnVerb } from "./verb";

/** An option as it was found on the command line. */
interface OptionToken {
  readonly name: string;
  /** With its dashes, as it was written. */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Whether the value stood in the same word. */
  readonly inlineValue?: boolean | undefined;
}

/**
 * @param name the verb's name, for messages
 * @throws UsageError that says what is not understood
 */
export function parseOwnArguments(
  name: string,
  verb: Pick<OwnVerb, "options" | "operands">,
  given: readonly string[],
  environment = process.env,
): OwnArguments {
  // Some package managers pass on the -- with which their own options end.
  const args = given[0] === "--" ? given.slice(1) : [...given];
  const known: Options = { ...verb.options, ...commonOptions };
  const { tokens, positionals } = parseArgs({
    args,
    options: Object.fromEntries(Object.entries(known).map(([long, option]) => [long, shapeOf(option)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, (string | boolean)[]>();
  for (const token of tokens) {
    if (token.kind === "option") {
      const value = checkedValue(name, known, token, args[token.index] ?? "");
      values.set(token.name, [...(values.get(token.name) ?? []), value]);
    }
  }
  const text = (option: string) => values.get(option)?.at(-1)?.toString();
  const help = values.get("help")?.at(-1) === true;
  if (!help) {
    checkOperands(name, verb, positionals);
  }
  return {
    stack: text("stack") ?? (environment.PULUMI_STACK || "local"),
    ...(values.has("cwd") && { cwd: text("cwd") }),
    help,
    yes: values.get("yes")?.at(-1) === true || saysYes([], environment),
    rest: [],
    options: Object.fromEntries(
      Object.entries(verb.options).map(([long, option]) => [long, whatIsGiven(option, values.get(long) ?? [])]),
    ) as OwnArguments["options"],
    operands: positionals,
  };
}

function shapeOf({ short, value }: Option) {
  return { type: value === undefined ? ("boolean" as const) : ("string" as const), ...(short && { short }) };
}

function whatIsGiven(option: Option, values: readonly (string | boolean)[]) {
  if (option.value === undefined) {
    return values.at(-1) === true;
  }
  const texts = values.map(String);
  return option.repeated ? texts : texts.at(-1);
}

/** What one option on the command line says, checked. */
function checkedValue(verb: string, known: Options, token: OptionToken, argument: string): string | boolean {
  const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
  const longNames = Object.keys(known).map((long) => `--${long}`);
  if (option === undefined) {
    throw new UsageError(
      `${verb} does not know ${token.rawName}${didYouMean(token.rawName, longNames) || `: ${allowedOptions(known)}.`}` +
        ` See kubicorn ${verb} --help.`,
    );
  }
  // With one dash, the first letter would be an option and the rest its value, or further ones.
  if (/^-[a-z]{2,}$/.test(argument) && longNames.includes(`-${argument}`)) {
    throw new UsageError(`${verb} does not know ${argument}; did you mean -${argument}?`);
  }
  if (option.value === undefined) {
    if (token.value !== undefined && token.value !== "true" && token.value !== "false") {
      throw new UsageError(`${token.rawName} takes no value, and "${token.value}" is given to it.`);
    }
    return token.value !== "false";
  }
  const value = token.value?.replace(token.rawName.startsWith("--") ? "" : /^=/, "");
  if (!value || (!token.inlineValue && value.startsWith("-"))) {
    throw new UsageError(`${token.rawName} needs a value after it: ${option.value}, ${option.says}.`);
  }
  if (option.allowed && !option.allowed.includes(value)) {
    const meant = didYouMean(value, option.allowed);
    throw new UsageError(`${token.rawName} cannot be "${value}": ${listed(option.allowed)} is allowed${meant || "."}`);
  }
  return value;
}

function checkOperands(verb: string, { operands }: Pick<OwnVerb, "operands">, given: readonly string[]): void {
  const { name = "", least = 0, most = 0, allowed, further } = operands ?? {};
  const chosen = further === undefined ? given : given.slice(0, 1);
  const unknown = allowed && chosen.find((word) => !allowed.includes(word));
  if (allowed && unknown !== undefined) {
    const meant = didYouMean(unknown, allowed);
    throw new UsageError(`${verb} does not know ${unknown}: ${listed(allowed)} is allowed${meant || "."}`);
  }
  if (given.length > most) {
    throw new UsageError(`${verb} does not know what to do with "${given[most]}". See kubicorn ${verb} --help.`);
  }
  if (given.length < least) {
    const which = allowed ? `: ${listed(allowed)}` : "";
    throw new UsageError(`${verb} needs ${name} after it${which}. See kubicorn ${verb} --help.`);
  }
}

function allowedOptions(known: Options): string {
  return `${listed(Object.keys(known).map((long) => `--${long}`))} is allowed`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
