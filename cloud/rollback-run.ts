/**
 * A rollback from its journal to its end, over the engine. Killed or failed at any point, it can be run again.
 */
import type { Model } from "./model";
import type { NotUndone } from "./reconciler";
import { kindOfUrn, nameOfUrn } from "./representation";
import {
  type Comparison,
  compare,
  isCutOff,
  isNothing,
  isThing,
  live,
  marked,
  recordedProgram,
  stateToGoBackFrom,
  unclear,
  withFormerMarks,
} from "./rollback";
import type { Journal, Snapshot, StackEngine, StateRow, Step } from "./stack-engine";

/** What a rollback has done. */
export interface Undoing {
  /** One sentence each, in the order in which it was done. */
  readonly undone: readonly string[];
  readonly notUndone: readonly NotUndone[];
  /** Why it did not come to its end; it is resumable then. */
  readonly failure?: unknown;
}

export interface RollbackOptions {
  /** Told each thing as soon as it is undone. */
  readonly tell: (sentence: string) => void;
  /** Of the former cluster, for what has to be made anew. */
  readonly model: Model | undefined;
  /** Given at an interruption of the rollback. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Goes back to the journal's `before`, and clears the journal once everything stands so. Never rejects.
 *
 * @param journal of the run that failed or was cut off
 */
export async function rollBack(engine: StackEngine, journal: Journal, options: RollbackOptions): Promise<Undoing> {
  const record = new UndoingRecord(journal.before, options.tell);
  try {
    await engine.mend();
    const after = await engine.read();
    const comparison = compare(journal.before, after, new Set(journal.attempted));
    const attempted = attemptedIn(journal, comparison);
    if (!isNothing(comparison)) {
      await engine.journal.write({ phase: "rolling back", before: journal.before, attempted });
      await goBack(engine, journal.before, after, { comparison, attempted: new Set(attempted), record, ...options });
    }
    record.keep(comparison.kept);
    await engine.journal.clear();
    return record;
  } catch (failure) {
    const notUndone = [...record.notUndone, ...(await leftOver(engine, journal).catch(() => []))];
    return { undone: record.undone, notUndone, failure };
  }
}

/** What a rollback that did not come to its end has left. */
async function leftOver(engine: StackEngine, { before, attempted }: Journal): Promise<NotUndone[]> {
  const { made, putBack, lost, changed } = compare(before, await engine.read(), new Set(attempted));
  const told = (rows: readonly StateRow[], why: string) =>
    rows.filter(isThing).map(({ urn }) => ({ name: nameOfUrn(urn), why }));
  return [
    ...told(made, "it was made, and is not removed yet"),
    ...told([...changed, ...putBack], "it may not be what it was yet"),
    ...told(lost, "it was removed, and is not made anew yet"),
  ];
}

/** What the rollback has to look at and to put right also where it is resumed and no state tells of it any more. */
function attemptedIn({ attempted }: Journal, { putBack, changed }: Comparison): string[] {
  return [...new Set([...attempted, ...[...putBack, ...changed.filter(isCutOff)].map(({ urn }) => urn)])];
}

interface GoingBack extends RollbackOptions {
  readonly comparison: Comparison;
  readonly attempted: ReadonlySet<string>;
  readonly record: UndoingRecord;
}

async function goBack(engine: StackEngine, before: Snapshot, after: Snapshot, given: GoingBack): Promise<void> {
  const { comparison, attempted, record, model, signal } = given;
  const rows = await lookAgain(engine, after, given);
  const marks = marked(rows, before, attempted);
  await writeRows(engine, rows, marks);
  const onStep = (step: Step) => record.note(step);
  await engine.up(recordedProgram(before, marks, comparison.kept, model), { signal, onStep });
  const { resources } = await engine.read();
  await writeRows(engine, resources, withFormerMarks(resources, before));
}

/** Puts the older things into their places, and looks at those that the failed run may have touched. */
async function lookAgain(
  engine: StackEngine,
  after: Snapshot,
  { comparison, attempted, signal }: GoingBack,
): Promise<readonly StateRow[]> {
  const rows = stateToGoBackFrom(after, comparison);
  await writeRows(engine, after.resources, rows);
  const urns = unclear(rows, new Set([...attempted, ...comparison.lost.map(({ urn }) => urn)]));
  if (urns.length === 0) {
    return rows;
  }
  await engine.refresh(urns, { signal });
  return (await engine.read()).resources;
}

/** Writes only what differs: each writing of a state takes the engine a second. */
export async function writeRows(
  engine: StackEngine,
  present: readonly StateRow[],
  wanted: readonly StateRow[],
): Promise<void> {
  if (present.length === wanted.length && present.every((row, index) => row === wanted[index])) {
    return;
  }
  await engine.write({ ...(await engine.read()), resources: wanted });
}

/** The sentences of a rollback, put down as its steps end. */
class UndoingRecord implements Undoing {
  readonly undone: string[] = [];
  readonly notUndone: NotUndone[] = [];
  private readonly older: ReadonlyMap<string, StateRow>;

  constructor(
    before: Snapshot,
    private readonly tell: (sentence: string) => void,
  ) {
    this.older = new Map(live(before.resources).map((row) => [row.urn, row]));
  }

  note({ kind, urn, custom, state }: Step): void {
    if (!custom || state !== "done") {
      return;
    }
    const name = nameOfUrn(urn);
    if (kind === "delete") {
      this.put(`${name} (${kindOfUrn(urn)}) was removed again.`);
    } else if (kind === "update") {
      this.put(`${name} (${kindOfUrn(urn)}) was brought back to what it was.`);
    } else if ((kind === "create" || kind === "replace") && this.older.has(urn)) {
      this.put(`${name} (${kindOfUrn(urn)}) was made anew.`);
      this.notUndone.push({ name, why: "it had been removed, and was made anew: what it held is gone" });
    }
  }

  keep(rows: readonly StateRow[]): void {
    for (const { urn, protect } of rows.filter(isThing)) {
      const why = protect ? "it is protected" : "what is protected stands on it";
      this.notUndone.push({ name: nameOfUrn(urn), why: `${why}, so it was not removed` });
    }
  }

  private put(sentence: string): void {
    if (!this.undone.includes(sentence)) {
      this.undone.push(sentence);
      this.tell(sentence);
    }
  }
}
