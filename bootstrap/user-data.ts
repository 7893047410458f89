/**
 * The user data that a machine boots with: one cloud-init text for every cloud. Pure but for reading our own scripts.
 * Each role gets only the scripts it runs, since clouds limit the size.
 */
import { gzipSync } from "node:zlib";
import type { KubeletSettings } from "../cloud/kubelet-settings";
import { yamlText } from "../cloud/yaml";
import {
  type ControlPlaneConfiguration,
  controlPlaneConfiguration,
  type JoinConfiguration,
  joinConfiguration,
  kubeletPatch,
  kubeletPatchFile,
} from "./kubeadm-config";
import { type MachineData, machineDataFile } from "./machine-data";
import { type PodNetworkBackend, podNetworkManifest } from "./pod-network";
import { scriptText } from "./scripts";

/** What the machines of both roles are given. */
export interface MachineAccess {
  /** The cluster's SSH public key, one line. */
  readonly authorizedKey: string;
  /** The machine's own SSH host key: it is known before the machine exists. */
  readonly hostKey: { readonly publicKey: string; readonly privateKey: string };
}

export interface ControlPlaneMachine extends ControlPlaneConfiguration {
  readonly access: MachineAccess;
  readonly podNetworkBackend: PodNetworkBackend;
  /** Settings of this machine's kubelet, over those of the whole cluster. A machine that joins gets them then. */
  readonly ownKubelet: KubeletSettings;
}

export interface WorkerMachine
  extends JoinConfiguration,
    Pick<ControlPlaneConfiguration, "cluster" | "kubernetesVersion" | "endpoint"> {
  readonly access: MachineAccess;
}

/** The user that we log in as; it may become root without a password. */
export const machineUser = "kubicorn";
/** Where the scripts lie on a machine. */
export const libraryFolder = "/usr/local/lib/kubicorn";

const commonScripts = ["lib.sh", "prepare.sh", "bootstrap.sh", "wait.sh", "clock.sh", "pod-network.sh"];
const services = ["kubicorn-bootstrap.service", "kubicorn-pod-network.service"];

/** The user data of the first control-plane machine. */
export function controlPlaneUserData(machine: ControlPlaneMachine): string {
  return cloudConfig(machine, dataOf(machine, "control-plane"), [
    ...scripts([...commonScripts, "initialize-control-plane.sh", "join-information.sh", "kubeconfig.sh"]),
    { path: "/etc/kubicorn/kubeadm.yaml", content: controlPlaneConfiguration(machine) },
    { path: kubeletPatchFile, content: `${kubeletPatch(machine.ownKubelet)}\n` },
    {
      path: "/etc/kubicorn/pod-network.yaml",
      content: podNetworkManifest({ ...machine, backend: machine.podNetworkBackend }),
    },
  ]);
}

/** The user data of a machine that joins. It holds no credential. */
export function workerUserData(machine: WorkerMachine): string {
  return cloudConfig(machine, dataOf(machine, "worker"), [
    ...scripts([...commonScripts, "join.sh", "leave.sh"]),
    { path: "/etc/kubicorn/kubeadm.yaml", content: joinConfiguration(machine) },
  ]);
}

/** How long a user data text is, in bytes: as it is, and as the clouds that take it compressed count it. */
export function userDataSize(text: string): { readonly raw: number; readonly compressed: number } {
  return { raw: Buffer.byteLength(text), compressed: gzipSync(text, { level: 9 }).byteLength };
}

interface WrittenFile {
  readonly path: string;
  readonly content: string;
  /** @default 0644 */
  readonly permissions?: string;
}

function scripts(names: readonly string[]): WrittenFile[] {
  return [
    ...names.map((name) => ({ path: `${libraryFolder}/${name}`, content: scriptText(name), permissions: "0755" })),
    ...services.map((name) => ({ path: `/etc/systemd/system/${name}`, content: scriptText(name) })),
  ];
}

function dataOf(machine: ControlPlaneMachine | WorkerMachine, role: MachineData["ROLE"]): MachineData {
  return {
    ROLE: role,
    CLUSTER: machine.cluster,
    MACHINE: machine.machine,
    KUBERNETES_VERSION: machine.kubernetesVersion,
    ENDPOINT_NAME: machine.endpoint.name,
    ENDPOINT_PORT: String(machine.endpoint.port),
  };
}

function cloudConfig(
  { machine, access }: ControlPlaneMachine | WorkerMachine,
  data: MachineData,
  files: readonly WrittenFile[],
): string {
  const configuration = {
    hostname: machine,
    users: [
      {
        name: machineUser,
        shell: "/bin/bash",
        sudo: "ALL=(ALL) NOPASSWD:ALL",
        lock_passwd: true,
        ssh_authorized_keys: [access.authorizedKey],
      },
    ],
    disable_root: true,
    ssh_pwauth: false,
    ssh_keys: { ed25519_private: access.hostKey.privateKey, ed25519_public: access.hostKey.publicKey },
    write_files: [{ path: "/etc/kubicorn/machine.env", content: machineDataFile(data) }, ...files],
    runcmd: [["systemctl", "enable", "--now", "--no-block", ...services]],
  };
  return `#cloud-config\n${yamlText(configuration)}`;
}
