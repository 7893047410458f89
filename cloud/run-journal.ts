/**
 * The journal of one run, from before its first step. What fails is put down at once, since the run may be killed later.
 */
import type { Model } from "./model";
import type { Journal, Snapshot, StackEngine, Step } from "./stack-engine";

/** A change that is about to be made. */
export interface Change {
  readonly model: Model;
  /** The state to go back to. */
  readonly before: Snapshot;
  /** The state from which this run starts. */
  readonly present: Snapshot;
  readonly attempted: readonly string[];
  readonly steps: readonly Step[];
}

export class RunJournal {
  private readonly begun = new Set<string>();
  private readonly failed: Set<string>;
  /** Whether any step has begun. */
  hasBegun = false;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly engine: StackEngine,
    private readonly change: Change,
    private readonly policy: "rollback" | "keep",
  ) {
    this.failed = new Set(change.attempted);
  }

  /** Under the policy keep nobody goes back, also not to before an earlier run. */
  begin(): Promise<void> {
    return this.policy === "keep" ? this.engine.journal.clear() : this.engine.journal.write(this.entry());
  }

  note({ kind, urn, custom, state }: Step): void {
    if (kind === "same" || kind === "read") {
      return;
    }
    this.hasBegun ||= state === "begun";
    if (!custom || kind === "record") {
      return;
    }
    if (state === "begun") {
      this.begun.add(urn);
    } else if (state === "done") {
      this.begun.delete(urn);
    } else if (state === "failed") {
      this.failed.add(urn);
      if (this.policy === "rollback") {
        this.writing = this.writing.then(() => this.engine.journal.write(this.entry())).catch(() => undefined);
      }
    }
  }

  /** Resolves when nothing is being written any more. */
  settled(): Promise<void> {
    return this.writing;
  }

  /** The journal of the run that did not come to its end. */
  async end(): Promise<Journal> {
    await this.writing;
    for (const urn of this.begun) {
      this.failed.add(urn);
    }
    return this.entry();
  }

  private entry(): Journal {
    return { phase: "applying", before: this.change.before, attempted: [...this.failed] };
  }
}
