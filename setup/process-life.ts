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
  const seen = await (process.platform === "linux" ? lookInProc(holder.pid) : askPs(holder.pid));
  const younger = seen.started !== undefined && seen.started > holder.since + tolerance;
  return seen.ended || younger ? "dead" : "alive";
}

interface Seen {
  /** Whether it has ended, and is only waiting for its parent to notice; where nobody does, that is for ever. */
  readonly ended: boolean;
  /** When it began, in milliseconds since 1970, where that can be told. */
  readonly started?: number;
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

async function lookInProc(pid: number): Promise<Seen> {
  try {
    const [ofProcess, ofComputer] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile("/proc/stat", "utf8"),
    ]);
    // The second field is the program's name in parentheses and may hold spaces; 3 is the state, 22 the start in ticks.
    const fields = ofProcess.slice(ofProcess.lastIndexOf(")") + 2).split(" ");
    const boot = Number(/^btime (\d+)$/m.exec(ofComputer)?.[1]);
    return seen(fields[0] ?? "", (boot + Number(fields[19]) / 100) * 1000);
  } catch {
    return { ended: false };
  }
}

async function askPs(pid: number): Promise<Seen> {
  const { execa } = await import("execa");
  const columns = ["-o", "stat=", "-o", "lstart="];
  const { stdout } = await execa("ps", [...columns, "-p", String(pid)], { reject: false, env: { LC_ALL: "C" } });
  const [, state = "", start = ""] = /^\s*(\S+)\s+(.*)$/.exec(String(stdout)) ?? [];
  return seen(state, Date.parse(start));
}

function seen(state: string, started: number): Seen {
  return { ended: /^[ZX]/.test(state), ...(Number.isFinite(started) && { started }) };
}
