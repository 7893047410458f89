/**
 * Machines come back with the computer: docker's daemon sees to that on its own, podman has a systemd unit for it.
 */
import { existsSync } from "node:fs";
import type { Step } from "./step";

const unit = "podman-restart.service";

/** Enables podman's unit where it is not; where that is not possible, machines are started by the next run instead. */
export async function startWithComputer(step: Step, systemd = "/run/systemd/system"): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync(systemd)) {
    return;
  }
  const { execa } = await import("execa");
  const options = { reject: false, env: { LC_ALL: "C" }, cancelSignal: step.signal } as const;
  const { stdout } = await execa("systemctl", ["is-enabled", unit], options);
  if (stdout.trim() !== "disabled") {
    return;
  }
  const enabled = await execa("systemctl", ["enable", unit], options);
  step.say(
    enabled.failed
      ? `machines do not come back by themselves after a restart of this computer; run "sudo systemctl enable ${unit}"`
      : `enabled ${unit}, so that machines come back after a restart of this computer`,
  );
}
