/**
 * Running the Pulumi CLI: in the foreground for the person, or with a question whose answer is its output.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { UserError } from "../cloud/errors";
import type { Interruption } from "./interruption";

export interface PulumiRunner {
  /** Runs the CLI with this process's input and output, and gives its exit code. */
  run(args: readonly string[]): Promise<number>;
  /** Runs the CLI in silence, with that on its standard input, and gives what it prints; its failure is a UserError with its own words. */
  ask(args: readonly string[], input?: string): Promise<string>;
}

export interface Surroundings {
  /** The folder of the CLI. */
  readonly cli: string;
  /** The folder of the project. */
  readonly project: string;
  /** What is added to the environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export function pulumiRunner(surroundings: Surroundings, interruption: Interruption): PulumiRunner {
  return {
    run: (args) => start(surroundings, interruption, args, "inherit").exited,
    async ask(args, input = "") {
      const { child, exited } = start(surroundings, interruption, [...args, "--non-interactive"], "pipe");
      child.stdin?.on("error", ignore).end(input);
      const printed: Buffer[] = [];
      const told: Buffer[] = [];
      child.stdout?.on("data", (chunk: Buffer) => printed.push(chunk));
      child.stderr?.on("data", (chunk: Buffer) => told.push(chunk));
      if ((await exited) !== 0) {
        const words = Buffer.concat(told)
          .toString("utf8")
          .replace(/^error: /, "")
          .trim();
        throw new UserError(`pulumi ${args.slice(0, 2).join(" ")} failed: ${words}`);
      }
      return Buffer.concat(printed).toString("utf8");
    },
  };
}

function start(to: Surroundings, interruption: Interruption, args: readonly string[], stdio: "inherit" | "pipe") {
  // The shell only makes Pulumi deaf to the terminal's end, of which it learns by one SIGINT from here, and is gone.
  const deaf = ["-c", 'trap "" HUP; exec "$@"', "pulumi", join(to.cli, "pulumi"), ...args];
  const child = spawn("/bin/sh", deaf, {
    cwd: to.project,
    env: { ...process.env, ...to.environment, KUBICORN_INTERRUPT_FILE: interruption.file },
    stdio: stdio === "inherit" ? "inherit" : ["pipe", "pipe", "pipe"],
    detached: !interruption.terminal,
  });
  interruption.attach(child);
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  return { child, exited };
}

/** One that ends before it has read everything says why itself. */
function ignore(): void {}
