/**
 * The arguments of a verb: the few that this command understands itself, and the rest, which is Pulumi's.
 */
import { UsageError } from "./usage-error";

export interface Arguments {
  /** The stack's name. */
  readonly stack: string;
  /** The folder to look for the project from, where one is given. */
  readonly cwd?: string;
  readonly help: boolean;
  /** Whether the person has said yes to everything beforehand. */
  readonly yes: boolean;
  /** What is passed on to Pulumi, in the order it was given. */
  readonly rest: readonly string[];
}

/** Takes out `--stack`, `--cwd` and `--help`; sees `--yes` and leaves it where it is. */
export function parseArguments(given: readonly string[], environment = process.env): Arguments {
  const rest: string[] = [];
  let stack = environment.PULUMI_STACK || "local";
  let cwd: string | undefined;
  let help = false;
  // Some package managers pass on the -- with which their own options end.
  for (let index = given[0] === "--" ? 1 : 0; index < given.length; index += 1) {
    const argument = given[index] ?? "";
    const named = optionValue(argument, given[index + 1]);
    if (argument === "--help" || argument === "-h") {
      help = true;
    } else if (!named) {
      rest.push(argument);
    } else {
      index += named.used;
      stack = named.option === "stack" ? named.value : stack;
      cwd = named.option === "cwd" ? named.value : cwd;
    }
  }
  return { stack, cwd, help, rest, yes: saysYes(rest, environment) };
}

interface NamedValue {
  readonly option: "stack" | "cwd";
  readonly value: string;
  /** How many further arguments the value took. */
  readonly used: 0 | 1;
}

/** `--stack NAME`, `--stack=NAME`, `-s NAME`, `-sNAME`, and the same of `--cwd` and `-C`. */
function optionValue(argument: string, next: string | undefined): NamedValue | undefined {
  const [, long, short, attached] = /^(?:--(stack|cwd)(?==|$)|-([sC]))=?(.*)$/s.exec(argument) ?? [];
  const option = long === "stack" || short === "s" ? "stack" : long === "cwd" || short === "C" ? "cwd" : undefined;
  if (!option) {
    return undefined;
  }
  if (attached) {
    return { option, value: attached, used: 0 };
  }
  if (!next || next.startsWith("-")) {
    throw new UsageError(`${argument} needs a ${option === "stack" ? "stack's name" : "folder"} after it.`);
  }
  return { option, value: next, used: 1 };
}

/** Whether every question is answered beforehand. */
export function saysYes(rest: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  const flag = rest.some((argument) => /^(--yes|-y)(=(true|1))?$/.test(argument));
  return flag || /^(1|true)$/i.test(environment.PULUMI_SKIP_CONFIRMATIONS ?? "");
}
