/**
 * Before the layer that runs real clusters: a container engine is there, installed if need be, and the machine image in it.
 */
import { kubernetesVersions } from "../cloud/spec";
import { ensureContainerEngine } from "../setup/container-engine";
import { ensureMachineImage } from "../setup/machine-image";
import { withStep } from "../setup/step";

export default async function setup(): Promise<void> {
  await withStep("container engine", (step) => ensureContainerEngine(step, { yes: true }));
  await withStep("machine image", (step) => ensureMachineImage({ kubernetesVersion: kubernetesVersions[0] }, step));
}
