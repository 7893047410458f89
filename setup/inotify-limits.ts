/**
 * The kernel's limits on watched files: every machine has a systemd, a kubelet and pods that watch files, and all of them
 * count against this computer's limits, which many distributions set for one desktop.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Step } from "./step";

const folder = "/proc/sys/fs/inotify";
const needed = { max_user_instances: 8192, max_user_watches: 524_288 } as const;

/** Raises what is too low, and says so; where that is not allowed, says how the person can. */
export async function raiseInotifyLimits(step: Step, limits = folder): Promise<void> {
  const low: string[] = [];
  for (const [name, least] of Object.entries(needed)) {
    const file = join(limits, name);
    const current = Number(await readFile(file, "utf8").catch(() => "none"));
    if (current < least && !(await raise(file, least, current, step))) {
      low.push(`fs.inotify.${name}=${least}`);
    }
  }
  if (low.length > 0) {
    step.say(`low limits: several machines may fail with "too many open files"; run "sudo sysctl -w ${low.join(" ")}"`);
  }
}

async function raise(file: string, value: number, from: number, step: Step): Promise<boolean> {
  try {
    await writeFile(file, String(value));
    step.say(`raised ${file} from ${from} to ${value}, until the next start of this computer`);
    return true;
  } catch {
    return false;
  }
}
