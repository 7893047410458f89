/**
 * What happens at Ctrl-C, SIGTERM and a closed terminal.
 *
 * Pulumi ends in good order at one SIGINT and in haste at a second. A terminal's Ctrl-C reaches Pulumi by itself, since
 * it is in the terminal's process group; without a terminal it gets a group of its own, and all it hears comes from here.
 */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../setup/temporary-folder";

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

const exitCodes: Record<Signal, number> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
/**
 * How long Pulumi may take to end once it was asked to, until the person is told why it does not; until the run is ended
 * in haste, where nobody sits at a terminal to decide that; and until it is killed, having been asked for haste; seconds.
 */
const patience = { told: 5, hurried: 120, killed: 20 };
/** npm passes on what the terminal has sent already: two so close together are one; milliseconds. */
const oneKeyPress = 200;

export class Interruption {
  /** The marker that waits inside the provider look for (KUBICORN_INTERRUPT_FILE); not there until it is needed. */
  readonly file = join(temporaryFolder(), `kubicorn-interrupted-${randomUUID()}`);
  /** Whether there is a terminal that sends Ctrl-C to this process and to Pulumi alike. */
  readonly terminal = hasTerminal();
  private readonly controller = new AbortController();
  private readonly again = new AbortController();
  private first: Signal | undefined;
  private last = Number.NEGATIVE_INFINITY;
  private pulumi: ChildProcess | undefined;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly listeners: Record<Signal, () => void> = {
    SIGINT: () => this.onInterrupt(),
    SIGTERM: () => this.onEnd("SIGTERM"),
    SIGHUP: () => this.onEnd("SIGHUP"),
  };

  constructor() {
    for (const [signal, listener] of Object.entries(this.listeners)) {
      process.on(signal, listener);
    }
    // A closed terminal must not end this process at its next line of output.
    process.stdout.on("error", ignore);
    process.stderr.on("error", ignore);
  }

  /** Given at the first interruption. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Given at the second: whoever is undoing what the first has interrupted leaves it there. */
  get secondSignal(): AbortSignal {
    return this.again.signal;
  }

  /** The exit code of a command that was interrupted before Pulumi ran, else `undefined`. */
  get exitCode(): number | undefined {
    return this.first && exitCodes[this.first];
  }

  /** From now on, interruptions are this process's as well. */
  attach(pulumi: ChildProcess): void {
    this.pulumi = pulumi;
    pulumi.once("exit", () => {
      this.pulumi = undefined;
    });
  }

  dispose(): void {
    for (const [signal, listener] of Object.entries(this.listeners)) {
      process.off(signal, listener);
    }
    this.timers.forEach(clearTimeout);
    rmSync(this.file, { force: true });
    if (this.first === "SIGHUP") {
      // Node would end with a crash, since it sets a terminal back that is no longer there.
      process.kill(process.pid, "SIGHUP");
    }
  }

  private onInterrupt(): void {
    const now = performance.now();
    const again = now - this.last > oneKeyPress;
    this.last = now;
    const isFirst = this.begin("SIGINT");
    if (again && !this.terminal) {
      this.pulumi?.kill("SIGINT");
    }
    if (again && !isFirst) {
      this.again.abort(new Error("interrupted"));
      this.after(patience.killed, () => this.pulumi?.kill("SIGKILL"));
    }
  }

  /** The end of the session asks once, in good order; whoever was asked already is not hurried. */
  private onEnd(signal: Signal): void {
    if (!this.begin(signal)) {
      this.again.abort(new Error("interrupted"));
    } else {
      this.pulumi?.kill("SIGINT");
      this.after(patience.hurried, () => {
        this.pulumi?.kill("SIGINT");
        this.after(patience.killed, () => this.pulumi?.kill("SIGKILL"));
      });
    }
  }

  private after(seconds: number, act: () => void): void {
    this.timers.push(setTimeout(act, seconds * 1000));
  }

  private tellWhatIsAwaited(): void {
    if (this.pulumi) {
      process.stderr.write(
        "Waiting for the steps that are running to end, which keeps what they make on record. " +
          "Another Ctrl-C ends at once; the next run then goes on with what was being made.\n",
      );
    }
  }

  private begin(signal: Signal): boolean {
    if (this.first) {
      return false;
    }
    this.first = signal;
    try {
      writeFileSync(this.file, "", { flag: "wx", mode: 0o600 });
    } catch {
      // A full disk, for one. Pulumi is told all the same, and waits for the steps that are running.
    }
    this.after(patience.told, () => this.tellWhatIsAwaited());
    this.controller.abort(new Error("interrupted"));
    return true;
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

function ignore(): void {}
