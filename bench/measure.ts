/**
 * Measuring commands: how long they take, when their program is loaded, and how much memory it needs at most.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Measurement {
  /** From the start to the end of the command, in seconds. */
  readonly seconds: number;
  /** From the start until the Pulumi program's own file is loaded, in seconds. */
  readonly loadedSeconds: number;
  /** The most that the program's process held in memory, in MiB. */
  readonly programMebibytes: number;
}

/** Runs the command and throws with its output when it fails. */
export async function measure(command: Command): Promise<Measurement> {
  const mark = join(tmpdir(), `kubicorn-bench-${process.pid}`);
  const began = Date.now();
  const environment = {
    ...command.environment,
    NODE_OPTIONS: `--require ${join(__dirname, "mark-loaded.cjs")}`,
    KUBICORN_BENCH_MARK: mark,
  };
  const run = execa(command.program, command.args, { cwd: command.cwd, env: environment, all: true, reject: false });
  const peak = watchMemory(command.cwd);
  const { exitCode, all } = await run;
  const seconds = (Date.now() - began) / 1000;
  const programMebibytes = peak();
  if (exitCode !== 0) {
    throw new Error(`${command.program} ${command.args.join(" ")} ended with exit code ${exitCode}:\n${all}`);
  }
  const loadedSeconds = (Number(readFileSync(mark, "utf8")) - began) / 1000;
  rmSync(mark);
  return { seconds, loadedSeconds, programMebibytes };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Looks at the program's process until called; gives the most that it ever held, in MiB. Linux tells that in /proc. */
function watchMemory(cwd: string): () => number {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, ...programsIn(cwd).map(peakOf));
  }, 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}

/** The ids of the Node processes that run a Pulumi program of that folder. */
function programsIn(cwd: string): string[] {
  return readdirSync("/proc").filter((id) => {
    const command = /^\d+$/.test(id) ? read(`/proc/${id}/cmdline`) : "";
    return command.includes("cmd/run") && command.includes(cwd);
  });
}

function peakOf(id: string): number {
  return Number(read(`/proc/${id}/status`).match(/VmHWM:\s+(\d+) kB/)?.[1] ?? 0) / 1024;
}

/** The file, or nothing once its process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
