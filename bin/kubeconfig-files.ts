/**
 * The files that a stack's kubeconfig was merged into, so that `down` can say where entries are left that lead nowhere.
 * They are the person's files: no run changes one that was not asked to.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPlainObject } from "../cloud/json";
import { writeFileAtomically } from "../setup/write-file";
import { shellQuoted } from "./env";
import { type Stack, shortName } from "./stack";

/** By file, the name of the cluster's entries in it. */
type Notes = Readonly<Record<string, string>>;

/** Notes that the file has this stack's entries, under that name. */
export async function noteKubeconfig(stack: Stack, file: string, name: string): Promise<void> {
  const notes = { ...readNotes(stack), [file]: name };
  mkdirSync(dirname(notesFile(stack)), { recursive: true });
  await writeFileAtomically(notesFile(stack), JSON.stringify(notes));
}

/** A sentence for each file that still has entries of the stack's cluster, which is gone. They are told once. */
export function leftInKubeconfigs(stack: Stack): string[] {
  const left = Object.entries(readNotes(stack)).filter(([file, name]) => hasEntry(file, name));
  rmSync(notesFile(stack), { force: true });
  return left.map(([file, name]) => {
    const config = `kubectl --kubeconfig ${shellQuoted(file)} config`;
    const commands = ["context", "cluster", "user"].map((kind) => `${config} delete-${kind} ${name}`);
    return `${file} still has the entries of ${name}, which lead nowhere now. To take them out: ${commands.join("; ")}`;
  });
}

function hasEntry(file: string, name: string): boolean {
  try {
    const values = readFileSync(file, "utf8").matchAll(/\bname: *["']?([^"',}\s]+)/g);
    return [...values].some(([, value]) => value === name);
  } catch {
    return false;
  }
}

function readNotes(stack: Stack): Notes {
  const file = notesFile(stack);
  if (!existsSync(file)) {
    return {};
  }
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    const entries = isPlainObject(content) ? Object.entries(content) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return {};
  }
}

function notesFile(stack: Stack): string {
  return join(stack.project.stackFiles, ".kubeconfigs", `${shortName(stack.name)}.json`);
}
