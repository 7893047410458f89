/**
 * The AtomicReconciler: kubicorn's four verbs, all or nothing. A change that fails is undone: what it made is removed, what
 * it changed is put back, and whatever is older stays as it is. docs/reconciler.md says what that means, and where it ends.
 */
import { messageOf, UserError } from "./errors";
import { canonicalText } from "./json";
import { inOrder, type Model } from "./model";
import {
  type ClusterRepresentation,
  ReconcileError,
  type ReconcileOptions,
  type Reconciler,
  type ResourceRepresentation,
} from "./reconciler";
import { actualRepresentation, expectedRepresentation, nameOfUrn, recordedThings } from "./representation";
import { isCutOff, isThing, live, marked, unclear } from "./rollback";
import { rollBack, type Undoing, writeRows } from "./rollback-run";
import { type Change, RunJournal } from "./run-journal";
import type { Journal, StackEngine, StateRow, Step } from "./stack-engine";

export interface AtomicReconcilerOptions {
  /** What a failed change becomes: undone, or left as far as it came, for the next run to go on from. @default "rollback" */
  readonly policy?: "rollback" | "keep";
  /** Told what the person should know: what cannot be undone, before a run starts, and each thing that is undone. */
  readonly tell?: (sentence: string) => void;
  /**
   * Asked before the first step, with all that are planned; without a yes, nothing is changed. What cannot be undone has
   * been told by then. @default yes
   */
  readonly approve?: (steps: readonly Step[]) => Promise<boolean>;
  /** Told each step of a run as it begins and ends. */
  readonly onStep?: (step: Step) => void;
}

/** A Reconciler that leaves nothing half done. */
export class AtomicReconciler<Spec> implements Reconciler<Spec> {
  private readonly policy: "rollback" | "keep";
  private readonly tell: (sentence: string) => void;

  /**
   * @param known the cluster as it is known
   * @param modelOf the parts of a cluster, from its spec. Pure
   */
  constructor(
    private readonly known: Spec,
    private readonly modelOf: (spec: Spec) => Model,
    private readonly engine: StackEngine,
    private readonly options: AtomicReconcilerOptions = {},
  ) {
    this.policy = options.policy ?? "rollback";
    this.tell = options.tell ?? (() => undefined);
  }

  async actual(known: Spec, { record = false } = {}): Promise<ClusterRepresentation<Spec>> {
    const model = this.modelOf(known);
    const { resources } = await this.engine.read();
    const audit = resources.some(isThing) ? await this.engine.audit() : [];
    if (record) {
      await this.engine.refresh();
    }
    return actualRepresentation(known, model, this.urnOf, resources, audit);
  }

  async expected(known: Spec): Promise<ClusterRepresentation<Spec>> {
    return expectedRepresentation(known, this.modelOf(known), this.urnOf);
  }

  reconcile(
    actual: ClusterRepresentation<Spec>,
    expected: ClusterRepresentation<Spec>,
    options: ReconcileOptions = {},
  ): Promise<ClusterRepresentation<Spec>> {
    return this.alone(() => this.change(actual, expected, options));
  }

  private async change(
    actual: ClusterRepresentation<Spec>,
    expected: ClusterRepresentation<Spec>,
    options: ReconcileOptions,
  ): Promise<ClusterRepresentation<Spec>> {
    const unfinished = await this.prepare(actual.spec, options);
    const change = await beforeFirstStep(() => this.changeFor(actual, expected, unfinished, options));
    if (change.steps.length > 0) {
      await this.carryOut(change, { former: actual.spec, unfinished }, options);
    }
    await this.engine.journal.clear();
    const { resources } = await this.engine.read();
    return actualRepresentation(expected.spec, change.model, this.urnOf, resources);
  }

  /**
   * Goes back to before the last change, where that was killed or its rollback did not come to its end.
   *
   * @returns what was undone; nothing where the last change came to its end
   * @throws ReconcileError where the rollback fails or is interrupted; it can be run again
   */
  rollback({ rollbackSignal }: ReconcileOptions = {}): Promise<Undoing> {
    return this.alone(async () => {
      const journal = await this.engine.journal.read();
      if (journal === undefined) {
        return { undone: [], notUndone: [] };
      }
      this.tell("An earlier change did not come to its end, and is undone.");
      return this.undo(journal, this.known, rollbackSignal);
    });
  }

  destroy(options: ReconcileOptions = {}): Promise<readonly ResourceRepresentation[]> {
    return this.alone(() => this.remove(options));
  }

  private async remove({ signal }: ReconcileOptions): Promise<readonly ResourceRepresentation[]> {
    await beforeFirstStep(async () => {
      throwIfInterrupted(signal);
      await this.engine.mend();
    });
    const { resources } = await beforeFirstStep(() => this.engine.read());
    // Whoever removes everything wants to go back no more, also where the removal is cut off.
    await this.engine.journal.clear();
    try {
      await this.engine.destroy({ signal, onStep: this.options.onStep });
    } catch (error) {
      throw new ReconcileError(false, [], [], error, "What is left is removed by the next delete.");
    }
    const left = (await this.engine.read()).resources;
    const retained = resources.filter(
      ({ urn, retainOnDelete }) => retainOnDelete && !left.some((row) => row.urn === urn),
    );
    return recordedThings([...left, ...retained]);
  }

  /** Does the work while nobody else changes the stack. */
  private async alone<T>(work: () => Promise<T>): Promise<T> {
    const end = await beforeFirstStep(() => this.engine.hold());
    try {
      return await work();
    } finally {
      await end();
    }
  }

  private readonly urnOf = (model: Model, index: number) => this.engine.urnOf(model, index);

  /** Ends what earlier runs have left. @returns the journal of a change that was cut off, and that this one goes on from */
  private async prepare(former: Spec, { signal, rollbackSignal }: ReconcileOptions): Promise<Journal | undefined> {
    const journal = await beforeFirstStep(async () => {
      throwIfInterrupted(signal);
      await this.engine.mend();
      return this.engine.journal.read();
    });
    if (journal?.phase !== "rolling back") {
      return journal;
    }
    if (this.policy === "keep") {
      this.tell("An earlier change was not wholly undone; this one goes on from what is there.");
      return journal;
    }
    this.tell("An earlier change failed and is not wholly undone yet: that comes first.");
    await this.undo(journal, former, rollbackSignal ?? signal);
    return undefined;
  }

  private async changeFor(
    actual: ClusterRepresentation<Spec>,
    expected: ClusterRepresentation<Spec>,
    unfinished: Journal | undefined,
    { signal }: ReconcileOptions,
  ): Promise<Change> {
    const model = this.modelOf(expected.spec);
    // A refresh takes away the marks by which they are known.
    const attempted = attemptedBy(unfinished, (await this.engine.read()).resources);
    if (unfinished !== undefined && attempted.length > unfinished.attempted.length) {
      await this.engine.journal.write({ ...unfinished, attempted });
    }
    if (actual.resources.some(differs)) {
      await this.engine.refresh(undefined, { signal });
    }
    await this.settle(attempted, signal);
    const before = await this.engine.read();
    const steps = await this.engine.preview({ kind: "model", model }, { signal });
    throwIfInterrupted(signal);
    return { model, before: unfinished?.before ?? before, attempted, steps: steps.filter(isWork), present: before };
  }

  /** Looks at what an earlier run was changing when it was cut off, and sees to it that this run finishes it. */
  private async settle(attempted: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const { resources } = await this.engine.read();
    const urns = unclear(resources, new Set(attempted));
    if (urns.length > 0) {
      await this.engine.refresh(urns, { signal });
      const seen = await this.engine.read();
      await writeRows(this.engine, seen.resources, marked(seen.resources, seen, new Set(attempted)));
    }
  }

  private async carryOut(
    change: Change,
    { former, unfinished }: { readonly former: Spec; readonly unfinished: Journal | undefined },
    { signal, rollbackSignal }: ReconcileOptions,
  ): Promise<void> {
    this.tellWhatStays(change);
    const journal = new RunJournal(this.engine, change, this.policy);
    await beforeFirstStep(async () => {
      await this.askFor(change);
      throwIfInterrupted(signal);
      await journal.begin();
    });
    const onStep = (step: Step) => {
      journal.note(step);
      this.options.onStep?.(step);
    };
    try {
      await this.engine.up({ kind: "model", model: change.model }, { signal, onStep });
    } catch (error) {
      await journal.settled();
      if (!journal.hasBegun && unfinished === undefined) {
        await this.engine.journal.clear();
        throw new ReconcileError(true, [], [], error, "Nothing was changed.");
      }
      if (this.policy === "keep") {
        throw new ReconcileError(false, [], [], error, "What was made stays, for the next run to go on from.");
      }
      await this.undo(await journal.end(), former, rollbackSignal, error);
    }
    await journal.settled();
  }

  /** A person may take their time, and other tools run meanwhile: what was planned then is no longer what would be done. */
  private async askFor({ steps, present }: Change): Promise<void> {
    const { approve } = this.options;
    if (approve !== undefined && !(await approve(steps))) {
      throw new UserError("The change was not approved.");
    }
    const { resources } = await this.engine.read();
    if (canonicalText(resources) !== canonicalText(present.resources)) {
      throw new UserError("Another run has changed the stack while this change was planned. Plan it again.");
    }
  }

  /** @param cause the error of the change that is undone; without one, what is undone came before */
  private async undo(
    journal: Journal,
    former: Spec,
    signal: AbortSignal | undefined,
    cause?: unknown,
  ): Promise<Undoing> {
    const undoing = await rollBack(this.engine, journal, { tell: this.tell, model: this.modelOrNone(former), signal });
    const { undone, notUndone, failure } = undoing;
    if (failure !== undefined) {
      const outcome = `The change is not wholly undone: ${messageOf(failure)}\n${howToResume}`;
      throw new ReconcileError(false, undone, notUndone, cause ?? failure, cause ? outcome : howToResume, true);
    }
    if (cause === undefined) {
      undoing.notUndone.forEach(({ name, why }) => {
        this.tell(`${name}: ${why}.`);
      });
    } else {
      throw new ReconcileError(notUndone.length === 0, undone, notUndone, cause, outcomeOf(undoing));
    }
    return undoing;
  }

  /** The former spec may be one that is refused by now. */
  private modelOrNone(spec: Spec): Model | undefined {
    try {
      return this.modelOf(spec);
    } catch {
      return undefined;
    }
  }

  private tellWhatStays({ model, present, steps }: Change): void {
    const older = new Set(
      live(present.resources)
        .filter(isThing)
        .map(({ urn }) => urn),
    );
    const going = steps.filter(({ kind, urn }) => (kind === "delete" || kind === "replace") && older.has(urn));
    if (going.length > 0) {
      const names = [...new Set(going.map(({ urn }) => nameOfUrn(urn)))].join(", ");
      this.tell(`What these hold is gone once they are removed or replaced, and no rollback brings it back: ${names}.`);
    }
    for (const [index, { name, oneWay = [] }] of inOrder(model.resources())) {
      const urn = this.urnOf(model, index);
      const step = steps.find((one) => one.urn === urn && one.kind === "update");
      const properties = oneWay.filter((property) => step?.differences.includes(property));
      if (properties.length > 0) {
        this.tell(`This cannot be undone once it is done: the change of ${properties.join(", ")} of ${name}.`);
      }
    }
  }
}

const howToResume =
  "The next apply takes the rollback up again before anything else; with the policy keep it goes on from what is there.";

/** What fails before the first step has changed nothing. */
async function beforeFirstStep<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ReconcileError(true, [], [], error, "Nothing was changed.");
  }
}

function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new Error("The change was interrupted.", { cause: signal.reason });
  }
}

function outcomeOf({ undone, notUndone }: Undoing): string {
  if (notUndone.length === 0) {
    return undone.length === 0 ? "Nothing was changed." : "The change was undone: everything stands as before.";
  }
  const list = notUndone.map(({ name, why }) => `  - ${name}: ${why}`).join("\n");
  return `The change was undone, but for this:\n${list}`;
}

/** URNs whose change or removal failed or was cut off, by what is kept of an earlier run and by the marks in the state. */
function attemptedBy(unfinished: Journal | undefined, resources: readonly StateRow[]): string[] {
  return [...new Set([...(unfinished?.attempted ?? []), ...resources.filter(isCutOff).map(({ urn }) => urn)])];
}

/** Whether a recorded thing is not as it is recorded. */
function differs({ id, exists, differences }: ResourceRepresentation): boolean {
  return id !== undefined && (!exists || differences.length > 0);
}

function isWork({ kind }: Step): boolean {
  return kind !== "same" && kind !== "read";
}
