/**
 * The engine's arguments for a machine. Pure.
 */
import type { Place } from "./addresses";
import { labelArguments, labelNames, ownershipLabels } from "./labels";
import type { MachineExpected } from "./machine";
import { sizeArguments } from "./machine-size";
import { loopback } from "./ports";
import type { Abilities } from "./probe";
import { withoutProxies } from "./seclusion";

export interface CreatedMachine extends MachineExpected, Place {
  readonly containerName: string;
  readonly recipe: string;
  /** The name of the volume for /var. */
  readonly volume: string;
}

/** Arguments that make a machine's container without starting it. */
export function createArguments(machine: CreatedMachine, { options, limits }: Abilities): string[] {
  const { name, containerName, network, address, image, volume } = machine;
  return [
    ...options,
    ...["create", "--name", containerName, "--hostname", name],
    ...withoutProxies(machine.engine),
    ...["--network", network, "--ip", address, "--mac-address", hardwareAddress(address)],
    ...published(machine),
    // systemd, containerd and kubelet need what only a privileged container has.
    ...["--privileged", "--cgroupns=private", ...onlyPodman(machine, ["--systemd=false"])],
    ...limits,
    ...["--pids-limit", machine.engine === "podman" ? "0" : "-1"],
    ...["--tmpfs", "/run", "--tmpfs", "/tmp", "--volume", `${volume}:/var`],
    // So that the cluster comes back by itself after the computer was started anew.
    ...["--restart", machine.engine === "podman" ? "always" : "unless-stopped"],
    ...sizeArguments(machine),
    ...labelArguments(labelsOf(machine)),
    image,
  ];
}

/**
 * A hardware address that belongs to the network address: a machine that was started anew, or replaced, has the one that
 * its neighbours remember. With a random one they would send to nobody for up to a minute.
 */
export function hardwareAddress(address: string): string {
  const bytes = address.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
  // 02 says that it was given locally and not by a manufacturer.
  return ["02", "6b", ...bytes].join(":");
}

/** By them a machine's container is known again, with all that was decided when it was made. */
export function labelsOf(machine: Omit<CreatedMachine, "volume">): Record<string, string> {
  return {
    ...ownershipLabels(machine),
    [labelNames.machine]: machine.name,
    [labelNames.network]: machine.network,
    [labelNames.address]: machine.address,
    [labelNames.sshPort]: String(machine.sshPort),
    [labelNames.apiPort]: String(machine.apiPort),
    [labelNames.recipe]: machine.recipe,
  };
}

function published({ sshPort, apiPort }: Place): string[] {
  const ssh = ["--publish", `${loopback}:${sshPort}:22`];
  return apiPort === 0 ? ssh : [...ssh, "--publish", `${loopback}:${apiPort}:6443`];
}

function onlyPodman({ engine }: MachineExpected, args: string[]): string[] {
  return engine === "podman" ? args : [];
}
