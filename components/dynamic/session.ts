/**
 * What all dynamic resources of one provider process share: its engine, and the signal that ends waits early.
 */
import { existsSync } from "node:fs";
import type { Context } from "../../cloud/resource";
import { rollout } from "../../cloud/rollout";
import { Engine, type Severity, watchEngine } from "./engine";
import { endLanguageHosts } from "./orphans";
import { isPartialRun } from "./partial-run";

/** The environment variable that names a file; once the file exists, the run is interrupted. */
export const interruptFileVariable = "KUBICORN_INTERRUPT_FILE";

const interruptPollMilliseconds = 200;

export class Session {
  private readonly interruption = new AbortController();
  private readonly engine: Engine | undefined;
  private readonly noted = new Set<string>();

  /**
   * @param address the engine's address; none outside a provider process, then nothing is shown
   * @param interruptFile see {@link interruptFileVariable}
   */
  constructor(address: string | undefined, interruptFile: string | undefined) {
    if (address !== undefined) {
      this.engine = new Engine(address);
      watchEngine(address, () => {
        endLanguageHosts(address);
        process.exit(1);
      });
    }
    if (interruptFile) {
      this.watchInterruption(interruptFile);
    }
  }

  /**
   * Runs one verb of the resource with that row, with a context for it.
   * When it has gone well, its last progress line is taken away: it would stay on the row as if it were still so.
   */
  async run<Result>(row: unknown, verb: (context: Context) => Promise<Result>): Promise<Result> {
    let shown = false;
    const say = (severity: Severity, message: string, ephemeral: boolean) => {
      shown ||= ephemeral;
      this.say(severity, message, row, ephemeral);
    };
    const result = await rollout.during(() =>
      verb({
        signal: this.interruption.signal,
        isPartial: isPartialRun(),
        progress: (message) => say("info", message, true),
        warn: (message) => say("warning", message, false),
      }),
    );
    if (shown) {
      say("info", "", true);
    }
    return result;
  }

  /** Tells something about the resource with that row, once in a run. */
  note(row: unknown, message: string): void {
    const key = JSON.stringify([row, message]);
    if (!this.noted.has(key)) {
      this.noted.add(key);
      this.say("info", message, row, false);
    }
  }

  private say(severity: Severity, message: string, row: unknown, ephemeral: boolean): void {
    if (this.engine !== undefined && typeof row === "string") {
      this.engine.log(severity, message, row, ephemeral);
    }
  }

  private watchInterruption(file: string): void {
    const timer = setInterval(() => {
      if (existsSync(file)) {
        clearInterval(timer);
        this.interruption.abort(new Error("the run was interrupted"));
      }
    }, interruptPollMilliseconds);
    timer.unref();
  }
}
