/**
 * What a verb of the command is: what its help says, the options that it understands, and the code that runs it.
 */
import type { Arguments } from "./arguments";
import type { Interruption } from "./interruption";

/** What stands after an option or in an operand's place, for completion where the values are not a few known ones. */
export type ValueKind = "file" | "folder" | "stack";

/** An option that only a verb of our own understands, by its long name without the dashes. */
export interface Option {
  /** Its one letter, if it has one. */
  readonly short?: string;
  /** What its value is called in the help, as in `FILE`. An option without one is a flag. */
  readonly value?: string;
  /** The values that are allowed. @default any */
  readonly allowed?: readonly string[];
  readonly kind?: ValueKind;
  /** Whether it may stand there several times. @default false: the last one counts */
  readonly repeated?: boolean;
  /** What it does, as the end of its line in the help. */
  readonly says: string;
}

export type Options = Readonly<Record<string, Option>>;

/** What the person has given for each option. */
export type OptionValues<Known extends Options> = {
  readonly [Name in keyof Known]: Known[Name] extends { readonly value: string }
    ? Known[Name] extends { readonly repeated: true }
      ? readonly string[]
      : string | undefined
    : boolean;
};

/** What stands on the command line beside options. */
export interface Operands {
  /** What one is called in the help, as in `SHELL`. */
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** The words that are allowed. @default any */
  readonly allowed?: readonly string[];
  /** What the words after the first are called, if they are others: any are allowed there. */
  readonly further?: string;
  readonly kind?: ValueKind;
  readonly says: string;
}

/** The arguments of a verb of our own. There is never anything that goes on to Pulumi. */
export interface OwnArguments<Known extends Options = Options> extends Arguments {
  readonly options: OptionValues<Known>;
  readonly operands: readonly string[];
}

interface Described {
  /** What it does, in one line. */
  readonly summary: string;
  /** What else there is to know, in lines of at most 100 characters. */
  readonly help: string;
  /** The plain Pulumi command that does the same, or as much of it as Pulumi can. */
  readonly equals: string;
}

/** A verb that hands everything it does not understand on to Pulumi. */
export interface PassingVerb extends Described {
  readonly options?: undefined;
  run(args: Arguments, interruption: Interruption): Promise<number>;
}

/** A verb whose arguments are all its own: others are refused. */
export interface OwnVerb<Known extends Options = Options> extends Described {
  readonly options: Known;
  readonly operands?: Operands;
  run(args: OwnArguments<Known>, interruption: Interruption): Promise<number>;
}

export type Verb = PassingVerb | OwnVerb;

/** A verb of our own, whose code sees each option with its own type. */
export function ownVerb<const Known extends Options>(verb: OwnVerb<Known>): OwnVerb {
  // What `run` is given has passed parseOwnArguments, which goes by the very same options.
  return verb as unknown as OwnVerb;
}

/** Options that every verb has. */
export const commonOptions = {
  stack: {
    short: "s",
    value: "NAME",
    kind: "stack",
    says: "the stack, which is one cluster (default: $PULUMI_STACK, else local)",
  },
  cwd: {
    short: "C",
    value: "FOLDER",
    kind: "folder",
    says: "the folder of the project (default: this one, or the nearest above with a Pulumi.yaml)",
  },
  help: { short: "h", says: "this text" },
} as const satisfies Options;

/** The option of verbs that ask. */
export const yesOption = { yes: { short: "y", says: "answer every question beforehand" } } as const satisfies Options;

/** The option of verbs that print things. */
export const outputOption = {
  output: {
    short: "o",
    value: "FORMAT",
    allowed: ["table", "json", "yaml"],
    says: "how it is printed; json and yaml keep their form (default: table)",
  },
} as const satisfies Options;
