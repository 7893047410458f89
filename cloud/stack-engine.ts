/**
 * What a Reconciler needs of the engine below it: the recorded state, runs of a program, audits, and a journal.
 * The Pulumi engine is one; the simulated one of the tests is another.
 */
import type { Model } from "./model";

/** A resource as the engine's state has it. Only what the Reconciler reads is named; the rest is kept as it is. */
export interface StateRow {
  readonly urn: string;
  /** The owner's own name for the thing; none for a component. */
  readonly id?: string;
  /** The engine's type token. */
  readonly type: string;
  /** False for a component, which exists nowhere but in the state. */
  readonly custom: boolean;
  /** When it was made: what has an owner's name that stays the same is told by that from what it was before. */
  readonly created?: string;
  /** True for a thing that waits for its removal, since another has taken its place. */
  readonly delete?: boolean;
  /** True for a thing that is gone already, since its replacement, not made yet, needed its place. */
  readonly pendingReplacement?: boolean;
  /** True for a thing that the person has forbidden to remove. */
  readonly protect?: boolean;
  /** True for a thing that stays where it is when its row goes. */
  readonly retainOnDelete?: boolean;
  readonly parent?: string;
  readonly provider?: string;
  readonly dependencies?: readonly string[];
  readonly propertyDependencies?: Readonly<Record<string, readonly string[] | null>>;
  /** The thing whose removal removes this one too. */
  readonly deletedWith?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** Why the thing is not whole: the engine changes such a one also where its inputs say nothing new. */
  readonly initErrors?: readonly string[];
  readonly [further: string]: unknown;
}

/** The id of a row that stands for what a killed run had begun to make, until somebody looks what is there. */
export const unfinishedId = "unfinished";

/** The reason why a thing is not whole whose change or removal was cut off: nobody knows how far it got. */
export const cutOffMark = "Its change or removal was cut off.";

/** An operation that was begun and of which nobody knows how it ended. */
export interface PendingOperation {
  readonly type: "creating" | "updating" | "deleting" | "reading" | "importing";
  readonly resource: StateRow;
}

/** The whole state, secrets encrypted. */
export interface Snapshot {
  readonly resources: readonly StateRow[];
  readonly pendingOperations: readonly PendingOperation[];
  /** What the engine keeps besides, handed back as it is. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** `record` does nothing to a thing: only what is recorded of it changes, such as its protection, or the stack's outputs. */
export type StepKind = "same" | "record" | "create" | "update" | "replace" | "delete" | "read";

/** One step of a run, or of a preview of it. */
export interface Step {
  readonly kind: StepKind;
  readonly urn: string;
  /** False for components. */
  readonly custom: boolean;
  /** Properties that are the reason. */
  readonly differences: readonly string[];
  /** How far it is. A preview has `planned` ones only. */
  readonly state: "planned" | "begun" | "done" | "failed";
}

/** What the engine is to run. */
export type Program =
  /** The parts of a model. */
  | { readonly kind: "model"; readonly model: Model }
  /**
   * Rows as they were recorded, with the very inputs they had. Only an input that takes a value from a `lost` row, directly
   * or through others, comes from the model where that has it, since the recorded value names what is no longer there. All
   * else of such a row is as recorded, for the model may already be the new one. The stack's own outputs stay too.
   */
  | {
      readonly kind: "recorded";
      readonly rows: readonly StateRow[];
      readonly lost: readonly string[];
      readonly model: Model | undefined;
    };

export interface RunOptions {
  /** Given when the run is to end: running steps end, nothing new begins, the state is saved. */
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** What an audit saw of one recorded resource. */
export interface AuditedRow {
  readonly urn: string;
  readonly exists: boolean;
  /** Properties in which the real thing differs from what is recorded. */
  readonly differences: readonly string[];
}

/** What is kept of a run outside of the state, from before its first step until it has succeeded or is wholly undone. */
export interface Journal {
  readonly phase: "applying" | "rolling back";
  /** The state before the first run of those that did not come to their end. */
  readonly before: Snapshot;
  /** URNs whose change or removal failed or was cut off. */
  readonly attempted: readonly string[];
}

export interface StackEngine {
  /**
   * Keeps every other Reconciler off the stack from the plan of a change to its end; a run of the engine alone has its own
   * lock.
   *
   * @returns what ends it
   * @throws UserError that says who has the stack
   */
  hold(): Promise<() => Promise<void>>;
  /**
   * Clears away what a killed run has left: its lock, and operations that it had begun. What it was making becomes a
   * recorded thing with the `unfinishedId`; what it was changing or removing is marked as not whole, by the `cutOffMark`.
   */
  mend(): Promise<void>;
  read(): Promise<Snapshot>;
  /** Puts that in the place of the state. */
  write(snapshot: Snapshot): Promise<void>;
  preview(program: Program, options?: RunOptions): Promise<readonly Step[]>;
  /** Rejects with the run's error once all running steps have ended and the state is saved. */
  up(program: Program, options?: RunOptions): Promise<void>;
  /** Looks at the real things; changes nothing, not even what is recorded. */
  audit(options?: RunOptions): Promise<readonly AuditedRow[]>;
  /**
   * Looks at the real things and records what is there. Of rows with one URN, only the first is looked at; what was marked
   * as not whole counts as whole afterwards.
   *
   * @param urns only those
   */
  refresh(urns?: readonly string[], options?: RunOptions): Promise<void>;
  /** Removes everything but what is protected. Already gone is success. */
  destroy(options?: RunOptions): Promise<void>;
  /** The row's URN for a model's part, as a run of that model gives it. */
  urnOf(model: Model, index: number): string;
  readonly journal: {
    /** `undefined` where the last run came to its end, or another tool has run to an end since. */
    read(): Promise<Journal | undefined>;
    /** Kept for good once this resolves. */
    write(journal: Journal): Promise<void>;
    clear(): Promise<void>;
  };
}
