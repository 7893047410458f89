/**
 * Whether the process that left a lock is still that process.
 * A process id alone does not tell: ids are given out again.
 */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

export interface LockHolder {
  readonly pid: number;
  readonly hostname: string;
  /** When the lock was taken, in milliseconds since 1970. */
  readonly since: number;
}

/** "unknown" is a holder on another computer, which cannot be seen from here. */
export type Life = "alive" | "dead" | "unknown";

/** Clocks of the boot time and of file stamps differ by up to this much, in milliseconds. */
const tolerance = 2000;

export async function lifeOf(holder: LockHolder): Promise<Life> {
  if (holder.hostname !== hostname()) {
    return "unknown";
  }
  if (!exists(holder.pid)) {
    return "dead";
  }
  const started = await startOf(holder.pid);
  return started !== undefined && started > holder.since + tolerance ? "dead" : "alive";
}

function exists(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) {
    return false;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When the process began, in milliseconds since 1970, where that can be told. */
async function startOf(pid: number): Promise<number | undefined> {
  return process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
}

async function startFromProc(pid: number): Promise<number | undefined> {
  try {
    const [ofProcess, ofComputer] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile("/proc/stat", "utf8"),
    ]);
    // The second field is the program's name in parentheses and may hold spaces; field 22 is the start in ticks.
    const ticks = Number(ofProcess.slice(ofProcess.lastIndexOf(")") + 2).split(" ")[19]);
    const boot = Number(/^btime (\d+)$/m.exec(ofComputer)?.[1]);
    const start = (boot + ticks / 100) * 1000;
    return Number.isFinite(start) ? start : undefined;
  } catch {
    return undefined;
  }
}

async function startFromPs(pid: number): Promise<number | undefined> {
  const { execa } = await import("execa");
  const { stdout } = await execa("ps", ["-o", "lstart=", "-p", String(pid)], { reject: false, env: { LC_ALL: "C" } });
  const start = Date.parse(String(stdout).trim());
  return Number.isNaN(start) ? undefined : start;
}
