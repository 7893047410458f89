/**
 * What could stand in the place of the last word of a command line, by what the verbs declare. Pure.
 */
import { commonOptions, type Operands, type Option, type Options, type ValueKind, type Verb, yesOption } from "./verb";

export interface Candidate {
  readonly word: string;
  readonly says?: string;
}

export interface Completion {
  /** What the person has written of it so far; of `--output=js` only what stands after the equals sign. */
  readonly begun: string;
  /** The known words that begin so. */
  readonly candidates: readonly Candidate[];
  /** What else may stand there, of which only the computer knows. */
  readonly kind?: ValueKind;
  /** The folder that `--cwd` names on the same line. */
  readonly folder?: string;
}

/** @param words the words after the command's own; the last one is being written, and may be empty */
export function complete(words: readonly string[], verbs: Readonly<Record<string, Verb>>): Completion {
  const [name = "", ...rest] = words;
  if (rest.length === 0) {
    const known = Object.entries(verbs).map(([word, { summary }]) => ({ word, says: summary }));
    return among([...known, { word: "--help", says: "what there is" }], name);
  }
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  return verb === undefined ? among([], name) : new Line(verb, rest).complete();
}

/** The words after the verb. */
class Line {
  private readonly options: Options;
  private readonly operands: Operands | undefined;
  private readonly last: string;
  private readonly before: readonly string[];

  constructor(verb: Verb, words: readonly string[]) {
    // A verb that hands on to Pulumi takes an answer beforehand too.
    this.options = { ...(verb.options ?? yesOption), ...commonOptions };
    this.operands = verb.options ? verb.operands : undefined;
    this.last = words.at(-1) ?? "";
    this.before = words.slice(0, -1);
  }

  complete(): Completion {
    if (this.isValue(this.before.length)) {
      return this.values(this.withValue(this.before.at(-1)), this.last);
    }
    const [, option, value = ""] = /^(--[^=]+)=(.*)$/s.exec(this.last) ?? [];
    if (option !== undefined) {
      return this.values(this.withValue(option), value);
    }
    if (this.last.startsWith("-")) {
      return among(this.optionsLeft(), this.last);
    }
    const operands = this.values(this.takesOperand() ? this.operands : undefined, this.last);
    const isEmpty = operands.candidates.length === 0 && operands.kind === undefined;
    return isEmpty && this.last === "" ? among(this.optionsLeft(), "") : operands;
  }

  private takesOperand(): boolean {
    const { most = 0, further } = this.operands ?? {};
    const given = this.before.filter((word, index) => !word.startsWith("-") && !this.isValue(index)).length;
    return given < (further === undefined ? most : 1);
  }

  /** Whether the word at that place is the value of the option before it. */
  private isValue(index: number): boolean {
    return index > 0 && this.withValue(this.before[index - 1]) !== undefined && !this.isValue(index - 1);
  }

  /** The option that the word is, if it has a value. */
  private withValue(word: string | undefined): Option | undefined {
    const [, option] =
      Object.entries(this.options).find(
        ([long, { short }]) => word === `--${long}` || (short !== undefined && word === `-${short}`),
      ) ?? [];
    return option?.value === undefined ? undefined : option;
  }

  private optionsLeft(): Candidate[] {
    const given = new Set(this.before.map((word) => word.replace(/=.*$/s, "")));
    return Object.entries(this.options)
      .filter(([long, { short, repeated }]) => repeated || !(given.has(`--${long}`) || given.has(`-${short}`)))
      .map(([long, { says }]) => ({ word: `--${long}`, says }));
  }

  private values(of: Pick<Option, "allowed" | "kind"> | undefined, begun: string): Completion {
    const { allowed = [], kind } = of ?? {};
    const words = allowed.map((word) => ({ word }));
    const folder = this.folder();
    return { ...among(words, begun), ...(kind && { kind }), ...(folder !== undefined && { folder }) };
  }

  private folder(): string | undefined {
    return this.before
      .flatMap((word, index) => {
        const attached = /^(?:--cwd=|-C=?)(.+)$/s.exec(word)?.[1];
        return attached ?? (/^(--cwd|-C)$/.test(word) ? (this.before[index + 1] ?? []) : []);
      })
      .at(-1);
  }
}

function among(candidates: readonly Candidate[], begun: string): Completion {
  return { begun, candidates: candidates.filter(({ word }) => word.startsWith(begun)) };
}
