/**
 * Turns: work that may begin for everything at once, but is done for a few at a time.
 */
import { DeadlineError, messageOf } from "./errors";

export class Turns {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  /** @param most how many may work at the same time */
  constructor(private readonly most: number) {}

  /**
   * Does the work as soon as a turn is free; those that came first go first.
   *
   * @param waits called once, where the work has to wait
   * @throws DeadlineError when the signal is given before its turn has come
   */
  async take<T>(signal: AbortSignal, work: () => Promise<T>, waits: () => void = () => undefined): Promise<T> {
    if (this.taken >= this.most) {
      waits();
      await this.untilFree(signal);
    } else {
      this.taken += 1;
    }
    try {
      return await work();
    } finally {
      this.pass();
    }
  }

  /** Gives the turn to who waits longest; it stays taken then. */
  private pass(): void {
    const next = this.waiting.shift();
    if (next) {
      next();
    } else {
      this.taken -= 1;
    }
  }

  private untilFree(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        const place = this.waiting.indexOf(begin);
        if (place >= 0) {
          this.waiting.splice(place, 1);
        }
        reject(new DeadlineError(`stopped waiting for its turn: ${messageOf(signal.reason)}`));
      };
      if (signal.aborted) {
        leave();
        return;
      }
      this.waiting.push(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
