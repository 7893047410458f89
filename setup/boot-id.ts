/**
 * Which start of this computer it is: what was found out or set until its next start is looked at again after that.
 */
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";

/** Changes with every start of the computer, where the system tells. */
export function bootId(): Promise<string> {
  return readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => hostname());
}
