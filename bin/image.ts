/**
 * `image`: the machine images of this computer, and making one before the first cluster needs it.
 */
import { UserError } from "../cloud/errors";
import { kubernetesVersions } from "../cloud/spec";
import { findContainerEngine } from "../setup/container-engine";
import { hasImage } from "../setup/engine-images";
import { ensureMachineImage, machineImageReference } from "../setup/machine-image";
import { type StoredImage, storedMachineImages } from "../setup/machine-images";
import { withStep } from "../setup/step";
import type { Arguments } from "./arguments";
import type { Interruption } from "./interruption";
import { prepareEngine } from "./machines";
import { printAs } from "./output";
import { say } from "./session";
import { table } from "./table";
import { didYouMean, UsageError } from "./usage-error";

export interface ImageArguments extends Arguments {
  readonly operands: readonly string[];
  readonly options: { readonly "kubernetes-version": string | undefined; readonly output: string | undefined };
}

export async function image(args: ImageArguments, { signal }: Interruption): Promise<number> {
  const { output, "kubernetes-version": version } = args.options;
  if (args.operands[0] === "build") {
    const built = await build(knownVersion(version), args.yes, signal);
    await printAs(output, { value: built, table: () => imageTable([built]) });
    return 0;
  }
  const all = await storedMachineImages(await findContainerEngine(signal));
  const images = all.filter(({ kubernetesVersion }) => version === undefined || kubernetesVersion === version);
  await printAs(output, { value: images, table: () => imageTable(images) });
  return 0;
}

/** What a person gets. */
export function imageTable(images: readonly StoredImage[]): string {
  return table(
    ["tag", "kubernetes", "size", "made", "engine", "current", "stacks"],
    images.map(({ tag, kubernetesVersion, sizeGiB, made, engine, current, stacks }) => [
      ...[tag, kubernetesVersion, `${sizeGiB.toFixed(2)} GiB`, new Date(made).toLocaleString(), engine],
      ...[current ? "yes" : "no", stacks.join(", ") || "-"],
    ]),
  );
}

/** @throws UsageError where no machine image can be made of it */
function knownVersion(given: string = kubernetesVersions[0]): string {
  if (!kubernetesVersions.some((known) => known === given)) {
    throw new UsageError(
      `No machine image can be made of Kubernetes ${given}: ${kubernetesVersions.join(", ")} is allowed` +
        `${didYouMean(given, kubernetesVersions) || "."}`,
    );
  }
  return given;
}

async function build(
  kubernetesVersion: string,
  yes: boolean,
  signal: AbortSignal,
): Promise<StoredImage & { readonly built: boolean }> {
  await prepareEngine({ yes }, signal);
  const engine = await findContainerEngine(signal);
  const wanted = await machineImageReference(kubernetesVersion);
  const wasThere = await hasImage(engine, wanted);
  const make = { signal, quiet: true };
  const { reference } = await withStep(
    "machine image",
    (step) => ensureMachineImage({ kubernetesVersion }, step),
    make,
  );
  say(wasThere ? `The machine image ${reference} is there already.` : `Made the machine image ${reference}.`);
  const stored = (await storedMachineImages(engine)).find((one) => one.reference === reference);
  if (stored === undefined) {
    throw new UserError(`Somebody removed the machine image ${reference} right after it was made. Build it again.`);
  }
  return { ...stored, built: !wasThere };
}
