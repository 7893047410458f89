/**
 * Installing podman on Debian and its relatives, as root, with what machines need beside it.
 */
import { access, constants } from "node:fs/promises";
import { messageOf, UserError } from "../cloud/errors";
import type { Step } from "./step";

/** podman itself, the runtime and network plugins that it is not always packaged with, and what makes a Debian system. */
const packages = ["podman", "runc", "containernetworking-plugins", "iptables", "debootstrap"];

const aptGetProgram = "/usr/bin/apt-get";

export const installWords = `apt-get install ${packages.join(" ")}`;

export async function canInstallPodman(): Promise<boolean> {
  if (process.getuid?.() !== 0) {
    return false;
  }
  return access(aptGetProgram, constants.X_OK).then(
    () => true,
    () => false,
  );
}

export async function installPodman(step: Step): Promise<void> {
  step.say(`installing podman (${installWords})`);
  await aptGet(["update"], step);
  await aptGet(["install", "--yes", "--no-install-recommends", ...packages], step);
}

async function aptGet(args: readonly string[], step: Step): Promise<void> {
  const { execa } = await import("execa");
  // Another package manager may be at work, as in the first minutes of a new computer.
  const patience = ["-o", "DPkg::Lock::Timeout=300", "-qq"];
  try {
    await execa(aptGetProgram, [...patience, ...args], {
      env: { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
      cancelSignal: step.signal,
      stdin: "ignore",
    });
  } catch (error) {
    step.signal.throwIfAborted();
    throw new UserError(`"apt-get ${args.join(" ")}" failed: ${messageOf(error)}`);
  }
}
