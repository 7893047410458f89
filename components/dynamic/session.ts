/**
 * What all dynamic resources of one provider process share: its engine, and the signal that ends waits early.
 */
import { existsSync } from "node:fs";
import type { Context } from "../../cloud/resource";
import { Engine, watchEngine } from "./engine";
import { endLanguageHosts } from "./orphans";

/** The environment variable that names a file; once the file exists, the run is interrupted. */
export const interruptFileVariable = "KUBICORN_INTERRUPT_FILE";

const interruptPollMilliseconds = 200;

export class Session {
  private readonly interruption = new AbortController();
  private readonly engine: Engine | undefined;

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

  /** The context for one verb of the resource with that row. */
  context(row: unknown): Context {
    const say = (severity: "info" | "warning", message: string, ephemeral: boolean) => {
      if (this.engine !== undefined && typeof row === "string") {
        this.engine.log(severity, message, row, ephemeral);
      }
    };
    return {
      signal: this.interruption.signal,
      progress: (message) => say("info", message, true),
      warn: (message) => say("warning", message, false),
    };
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
