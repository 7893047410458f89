/**
 * The Pulumi CLI as the Automation API runs it and as it is asked: in a process group of its own, interrupted once and in
 * good order, with what it has to say when it fails.
 */
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { PulumiCommand } from "@pulumi/pulumi/automation";
import { execa } from "execa";
import { messageOf, UserError } from "../cloud/errors";
import { timeLimits } from "../cloud/time-limits";
import { interruptFileVariable } from "../components/dynamic/session";
import { temporaryFolder } from "../setup/temporary-folder";

export interface PulumiCommandOptions {
  /** The CLI: its path, or its name on PATH. */
  readonly program: string;
  /** The project's folder. */
  readonly workDir: string;
  /** What is added to this process's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What a run of the Automation API asks afterwards and nobody wants to know here: each is one more run of the CLI. */
const unasked: Readonly<Record<string, string>> = { "stack select": "", "stack output": "{}", "stack history": "[]" };

interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export class PulumiCli {
  private versionAsked: Promise<string> | undefined;

  constructor(private readonly options: PulumiCommandOptions) {}

  /**
   * Runs the CLI in silence and gives what it prints.
   *
   * @param input goes to its standard input
   * @param environment besides its own
   * @throws UserError with its own words
   */
  async ask(
    args: readonly string[],
    { input = "", environment = {} }: { input?: string; environment?: Readonly<Record<string, string>> } = {},
  ): Promise<string> {
    const { workDir, program } = this.options;
    const result = await execa(program, [...args, "--non-interactive"], {
      cwd: workDir,
      env: { ...this.environment(), ...environment },
      input,
      reject: false,
      stripFinalNewline: true,
      detached: true,
      timeout: timeLimits.pulumiQuestion * 1000,
    });
    if (result.failed) {
      throw new UserError(`pulumi ${args.slice(0, 2).join(" ")} failed: ${wordsOf(result)}`);
    }
    return result.stdout;
  }

  /** The CLI for a workspace of the Automation API. */
  async forAutomation(): Promise<PulumiCommand> {
    this.versionAsked ??= this.ask(["version"]);
    const version = (await this.versionAsked).trim().replace(/^v/, "");
    const command = {
      command: this.options.program,
      version: { version, toString: () => version },
      run: (...call: Parameters<PulumiCli["run"]>) => this.run(...call),
    };
    // The Automation API takes an instance of its own class, whose constructor is private, and uses no more than this.
    return command as unknown as PulumiCommand;
  }

  private async run(
    args: readonly string[],
    cwd: string,
    environment: Readonly<Record<string, string>>,
    onOutput?: (text: string) => void,
    onError?: (text: string) => void,
    signal?: AbortSignal,
  ): Promise<CommandResult> {
    const answer = unasked[args.slice(0, 2).join(" ")];
    if (answer !== undefined) {
      return { stdout: answer, stderr: "", code: 0 };
    }
    const interruption = new Interrupted(signal);
    const child = execa(this.options.program, [...args, "--non-interactive"], {
      cwd,
      env: { ...this.environment(), ...environment, [interruptFileVariable]: interruption.file },
      stdin: "ignore",
      reject: false,
      // A terminal's Ctrl-C reaches this process alone, which tells Pulumi once: a second one would be haste.
      detached: true,
    });
    child.stdout.on("data", (data: Buffer) => onOutput?.(data.toString()));
    child.stderr.on("data", (data: Buffer) => onError?.(data.toString()));
    interruption.begin((how) => child.kill(how));
    try {
      const result = await child;
      if (result.failed || signal?.aborted) {
        throw new Error(signal?.aborted ? interruptedBy(signal) : wordsOf(result));
      }
      return { stdout: result.stdout, stderr: result.stderr, code: 0 };
    } finally {
      interruption.end();
    }
  }

  private environment(): Record<string, string> {
    const { program, environment } = this.options;
    // Beside the CLI lie the programs that belong to it.
    const path = environment.PATH ?? process.env.PATH ?? "";
    return { ...environment, PATH: isAbsolute(program) ? `${dirname(program)}:${path}` : path };
  }
}

/** One run's interruption: the marker that waits in the provider look for, one SIGINT, and haste after a long while. */
class Interrupted {
  readonly file = join(temporaryFolder(), `kubicorn-interrupted-${randomUUID()}`);
  private readonly timers: NodeJS.Timeout[] = [];
  private onAbort: (() => void) | undefined;

  constructor(private readonly signal: AbortSignal | undefined) {}

  begin(kill: (how: "SIGINT" | "SIGKILL") => void): void {
    this.onAbort = () => {
      try {
        writeFileSync(this.file, "", { flag: "wx", mode: 0o600 });
      } catch {
        // A full disk, for one. Pulumi is told all the same, and waits for the steps that are running.
      }
      kill("SIGINT");
      this.timers.push(setTimeout(() => kill("SIGINT"), timeLimits.pulumiEnd * 1000));
      this.timers.push(setTimeout(() => kill("SIGKILL"), (timeLimits.pulumiEnd + timeLimits.pulumiHaste) * 1000));
    };
    if (this.signal?.aborted) {
      this.onAbort();
    }
    this.signal?.addEventListener("abort", this.onAbort);
  }

  end(): void {
    if (this.onAbort) {
      this.signal?.removeEventListener("abort", this.onAbort);
    }
    this.timers.forEach(clearTimeout);
    rmSync(this.file, { force: true });
  }
}

function interruptedBy({ reason }: AbortSignal): string {
  return `The run was interrupted${reason instanceof Error && reason.message !== "" ? ` (${messageOf(reason)})` : ""}.`;
}

interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly code?: string | undefined;
  readonly shortMessage?: string | undefined;
}

function wordsOf({ stdout, stderr, timedOut, code, shortMessage = "" }: Result): string {
  if (code === "ENOENT") {
    return "the Pulumi CLI is not there";
  }
  if (timedOut) {
    return "it gave no answer in time";
  }
  const words = (stderr.trim() || stdout.trim() || shortMessage).replace(/^error: /, "");
  return words.split("\n").slice(-20).join("\n");
}
