/**
 * A rollout: what would all be replaced at once is replaced a few at a time, in turns of many verbs in one process.
 * A turn is begun by one verb and ended by a later one. Waiting for it never lasts longer than the run has something to do.
 */
import { UserError } from "./errors";
import { waitUntil } from "./retry";
import { timeLimits } from "./time-limits";

/** Whose turn, and how many have theirs at the same time. */
export interface Turn {
  /** Those who take turns with each other, as in `dev/workers`. */
  readonly group: string;
  /** Whose turn it is, as in `workers-1`. */
  readonly slot: string;
  /** How many of the group have their turn at the same time; at least 1. */
  readonly atATime: number;
}

interface Waiting {
  readonly signal: AbortSignal;
  progress(message: string): void;
}

export class Rollout {
  private readonly taken = new Map<string, Set<string>>();
  private underWay = 0;
  private waiting = 0;
  private failed = false;
  private lastSeen = performance.now();

  /** @param idleSeconds how long nothing but waiting may be under way, until that is taken for the end of the run */
  constructor(private readonly idleSeconds: number = timeLimits.turnIdle) {}

  /** Runs a verb and takes note of it: while any is under way there is something to wait for, and after a failure nothing. */
  async during<T>(verb: () => Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await verb();
    } catch (error) {
      this.failed = true;
      throw error;
    } finally {
      this.underWay -= 1;
      this.seen();
    }
  }

  /** Takes note that the run goes on. */
  seen(): void {
    this.lastSeen = performance.now();
  }

  /**
   * Waits until the group has a free place and takes it.
   *
   * @throws UserError when the run has failed elsewhere or has nothing else to do, DeadlineError when it is interrupted
   */
  async begin({ group, slot, atATime }: Turn, context: Waiting): Promise<void> {
    const others = this.taken.get(group) ?? new Set();
    this.taken.set(group, others);
    this.waiting += 1;
    const wait = {
      description: `the turn of ${slot}`,
      seconds: timeLimits.turn,
      pauseMilliseconds: 100,
      signal: context.signal,
      progress: (message: string) => context.progress(message),
    };
    try {
      await waitUntil(wait, async () => {
        this.throwIfInVain(slot);
        if (others.has(slot) || others.size < atATime) {
          others.add(slot);
          return { found: true };
        }
        return { pending: `${[...others].sort().join(", ")} first` };
      });
    } finally {
      this.waiting -= 1;
    }
  }

  /** Ends a turn, so that the next one may begin. One that was not taken in this process is none. */
  end({ group, slot }: Pick<Turn, "group" | "slot">): void {
    this.taken.get(group)?.delete(slot);
  }

  private throwIfInVain(slot: string): void {
    if (this.failed) {
      throw new UserError(
        `${slot} was not begun, since another step of this run failed. The next run goes on from here.`,
      );
    }
    if (this.underWay > this.waiting) {
      this.seen();
    }
    if (performance.now() - this.lastSeen > this.idleSeconds * 1000) {
      throw new UserError(
        `${slot} was not begun, since this run does nothing any more that it could wait for: either it was interrupted, or ` +
          "PULUMI_PARALLEL allows it too few things at a time (2 is the least). The next run goes on from here.",
      );
    }
  }
}

/** The rollout of this process. */
export const rollout = new Rollout();
