/**
 * The journal of a stack's changes: one file beside the stack's configuration, there for as long as a change is not at its
 * end. Another tool's run that ended meanwhile makes it worth nothing, since the state has moved on.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { isPlainObject } from "../cloud/json";
import type { Journal, Snapshot, StackEngine } from "../cloud/stack-engine";
import { writeFileAtomically } from "../setup/write-file";
import { parseSnapshot, snapshotText } from "./snapshot";

const content = z.strictObject({
  format: z.literal(1),
  phase: z.enum(["applying", "rolling back"]),
  /** The newest run of the stack that had ended when the first of these began. */
  since: z.string(),
  /** The runs that belong to this change. */
  runs: z.array(z.string()),
  attempted: z.array(z.string()),
  /** As Pulumi exports it: secrets are encrypted as in the state. */
  before: z.unknown(),
});

type Content = z.output<typeof content>;

/** A run of the stack that came to an end, whoever had it. */
export interface EndedRun {
  /** When it began; later runs sort after it. */
  readonly id: string;
  readonly message: string;
}

export interface JournalPlace {
  readonly file: string;
  /** This process's own runs carry it in their message. */
  readonly run: string;
  /** The stack's ended runs, those since that one or all; the newest last. */
  ended(since: string | undefined): Promise<readonly EndedRun[]>;
  tell(sentence: string): void;
}

export function fileJournal(place: JournalPlace): StackEngine["journal"] {
  return {
    async read() {
      const found = await current(place);
      return found && asJournal(found);
    },
    async write({ phase, before, attempted }) {
      const found = await current(place);
      const since = found?.since ?? (await place.ended(undefined)).at(-1)?.id ?? "";
      const runs = [...new Set([...(found?.runs ?? []), place.run])];
      const text: Content = {
        format: 1,
        phase,
        since,
        runs,
        attempted: [...attempted],
        before: JSON.parse(snapshotText(before)),
      };
      makeFolder(dirname(place.file));
      await writeFileAtomically(place.file, JSON.stringify(text));
    },
    async clear() {
      rmSync(place.file, { force: true });
    },
  };
}

/** A folder that no version control takes in, whatever the project's own rules are: what is in it is this computer's. */
export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rules = join(folder, ".gitignore");
  if (!existsSync(rules)) {
    writeFileSync(rules, "*\n");
  }
}

function asJournal({ phase, before, attempted }: Content): Journal {
  return { phase, before: snapshotOf(before), attempted };
}

function snapshotOf(before: unknown): Snapshot {
  return parseSnapshot(JSON.stringify(before));
}

/** The journal's content, where there is one that still counts. */
async function current(place: JournalPlace): Promise<Content | undefined> {
  if (!existsSync(place.file)) {
    return undefined;
  }
  const found = readContent(place);
  if (found === undefined) {
    return undefined;
  }
  const others = (await place.ended(found.since)).filter(
    ({ message }) => !found.runs.some((run) => message.includes(run)),
  );
  if (others.length === 0) {
    return found;
  }
  place.tell(
    "An earlier change did not come to its end, and another tool has run on the stack since: that change can no longer be undone.",
  );
  rmSync(place.file, { force: true });
  return undefined;
}

/** One that was cut short or made by hand is put aside: going back to what it says could remove what is needed. */
function readContent({ file, tell }: JournalPlace): Content | undefined {
  try {
    const parsed = content.parse(JSON.parse(readFileSync(file, "utf8")));
    if (!isPlainObject(parsed.before)) {
      throw new Error("it holds no state");
    }
    snapshotOf(parsed.before);
    return parsed;
  } catch {
    const aside = `${file}.damaged-${Date.now()}`;
    renameSync(file, aside);
    tell(
      `The journal of an earlier change cannot be read, so that change can no longer be undone. It is now ${aside}.`,
    );
    return undefined;
  }
}
