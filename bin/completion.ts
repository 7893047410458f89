/**
 * `completion`: the script of a shell, and the answers that it asks for while a person writes a command line.
 */
import { completionScripts } from "./completion-scripts";
import { type Candidate, type Completion, complete } from "./completion-words";
import { print } from "./print";
import { findProject } from "./project";
import { stackNames } from "./stack-names";
import type { OwnArguments } from "./verb";
import { verbs } from "./verbs";

export async function completion({ operands }: OwnArguments): Promise<number> {
  const [shell, ...words] = operands as [keyof typeof completionScripts, ...string[]];
  if (words.length === 0) {
    await print(completionScripts[shell]);
    return 0;
  }
  const told = complete(shell === "bash" ? joined(words) : words, verbs);
  const stacks = told.kind === "stack" ? await stacksBeginning(told) : [];
  const paths = told.kind === "file" || told.kind === "folder" ? told.kind : "none";
  const lines = [...told.candidates, ...stacks].map(({ word, says = "" }) => `${word}\t${says}`);
  await print(`${[paths, ...lines].join("\n")}\n`);
  return 0;
}

/** The words of bash's line, which stand apart around each equals sign, as words of ours. Pure. */
export function joined(words: readonly string[]): string[] {
  const whole: string[] = [];
  for (const word of words) {
    const before = whole.at(-1);
    const isOption = before?.startsWith("--") === true;
    if (isOption && (word === "=" || before.endsWith("="))) {
      whole.splice(-1, 1, `${before}${word}`);
    } else {
      whole.push(word);
    }
  }
  return whole;
}

/** None where there is no project, since a completion has nobody to tell that to. */
async function stacksBeginning({ folder, begun }: Completion): Promise<Candidate[]> {
  const project = await findProject(folder ?? process.cwd()).catch(() => undefined);
  const names = project === undefined ? [] : stackNames(project);
  return names.filter((name) => name.startsWith(begun)).map((word) => ({ word }));
}
