/**
 * The image that every machine on this computer starts from. It is shared by all clusters and kept when a cluster goes.
 */
import { z } from "zod";
import { messageOf } from "../../cloud/errors";
import { planByProperty, type Resource } from "../../cloud/resource";
import { hasImage } from "../../setup/engine-images";
import { ensureMachineImage } from "../../setup/machine-image";
import { type Step, seldom } from "../../setup/step";
import { containerEngine, type EngineName, engineNames } from "./engine";

const expected = z.strictObject({
  /** The Kubernetes version of its programs. */
  kubernetesVersion: z.string(),
});

export type ExpectedImage = z.output<typeof expected>;

export interface ActualImage extends ExpectedImage {
  /** The image as the engine knows it. */
  readonly reference: string;
  readonly engine: EngineName;
}

export const image: Resource<ExpectedImage, ActualImage> = {
  expected,
  secrets: [],
  // Two images can be there at once, and machines of the old one need it until they are replaced.
  deleteBeforeReplace: false,

  async actual({ actual }, context) {
    const name = engineNames.find((known) => known === actual.engine) ?? "podman";
    try {
      return (await hasImage(containerEngine(name), actual.reference)) ? actual : undefined;
    } catch (error) {
      context.warn(`the machine image cannot be looked at: ${messageOf(error)}`);
      return actual;
    }
  },

  plan(actual, wanted) {
    return planByProperty({ kubernetesVersion: { replace: "replaceVersion" } }, actual, wanted);
  },

  async apply(wanted, _recorded, context) {
    const say = (message: string) => context.progress(message);
    const step: Step = { say, progress: seldom(say), signal: context.signal };
    const made = await ensureMachineImage(wanted, step);
    return { id: made.reference, actual: { ...wanted, ...made } };
  },

  // Other clusters use it, and the next one starts the faster.
  async delete() {},
};
