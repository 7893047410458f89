/**
 * The machines of a test's cluster as podman tells of them, and their nodes as the API does: by ids, addresses, ports and
 * host keys it is seen what a run has touched.
 */
import { execa } from "execa";
import { z } from "zod";
import { labelNames } from "../../providers/local/labels";
import type { ClusterProject } from "./cluster-project";

export interface SeenMachine {
  /** The container's id. */
  readonly id: string;
  readonly container: string;
  readonly status: string;
  readonly network: string;
  readonly address: string;
  readonly hardwareAddress: string;
  readonly sshPort: string;
}

const inspected = z.array(
  z.object({
    Id: z.string(),
    Name: z.string(),
    State: z.object({ Status: z.string() }),
    Config: z.object({ Labels: z.record(z.string(), z.string()) }),
    NetworkSettings: z.object({
      Networks: z.record(z.string(), z.object({ IPAddress: z.string(), MacAddress: z.string() })),
    }),
    HostConfig: z.object({ PortBindings: z.record(z.string(), z.array(z.object({ HostPort: z.string() }))) }),
  }),
);

/** The cluster's machines by their host names. */
export async function machinesSeen(project: ClusterProject): Promise<Record<string, SeenMachine>> {
  const ids = await podman(
    "ps",
    "--all",
    "--quiet",
    "--filter",
    `label=${labelNames.identity}=${await identityOf(project)}`,
  );
  if (ids === "") {
    return {};
  }
  const found = inspected.parse(JSON.parse(await podman("inspect", ...ids.split("\n"))));
  return Object.fromEntries(
    found.map(({ Id, Name, State, Config, NetworkSettings, HostConfig }) => {
      const [[network, { IPAddress, MacAddress }] = ["", { IPAddress: "", MacAddress: "" }]] = Object.entries(
        NetworkSettings.Networks,
      );
      const seen: SeenMachine = {
        id: Id,
        container: Name,
        status: State.Status,
        network,
        address: IPAddress,
        hardwareAddress: MacAddress,
        sshPort: HostConfig.PortBindings["22/tcp"]?.[0]?.HostPort ?? "",
      };
      return [Config.Labels[labelNames.machine] ?? "", seen];
    }),
  );
}

/** The nodes' own ids, by their names. */
export async function nodeUids(project: ClusterProject): Promise<Record<string, string>> {
  const { items } = await project.kubectlJson<{ items: { metadata: { name: string; uid: string } }[] }>("get", "nodes");
  return Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** The key that the machine's SSH server shows, at the port that this computer publishes. */
export async function shownHostKey({ sshPort }: SeenMachine): Promise<string> {
  const { stdout } = await execa("ssh-keyscan", ["-T", "5", "-t", "ed25519", "-p", sshPort, "127.0.0.1"]);
  return stdout;
}

export async function podman(...args: string[]): Promise<string> {
  return (await execa("podman", args)).stdout;
}

/** The stack's own identity, which every machine of it has as a label: from the state of the stack. */
async function identityOf(project: ClusterProject): Promise<string> {
  const identity = /"identity": ?"([0-9a-f]{6})"/.exec(project.leftOnDisk())?.[1];
  if (identity === undefined) {
    throw new Error("the state of the stack does not tell its identity");
  }
  return identity;
}
