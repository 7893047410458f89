/**
 * The machine images that the engine's store has, and the stacks whose machines were made from each.
 */
import { z } from "zod";
import { askAbout, askForList } from "../providers/local/answers";
import { type ContainerEngine, type EngineName, isAbsent } from "../providers/local/engine";
import { labelNames } from "../providers/local/labels";
import { machineImageReference, machineImageRepository } from "./machine-image";

export interface StoredImage {
  readonly reference: string;
  readonly tag: string;
  readonly kubernetesVersion: string;
  readonly engine: EngineName;
  readonly sizeGiB: number;
  /** When it was made, as an ISO date. */
  readonly made: string;
  /** Whether machines that are made now start from it; an older recipe's is kept for a week. */
  readonly current: boolean;
  /** `project/stack` of every stack that has a machine of it. */
  readonly stacks: readonly string[];
}

const imageShape = z.object({ Id: z.string(), Size: z.number(), Created: z.string() });
const machineShape = z.object({
  Image: z.string(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
});

/** The images, the newest first. */
export async function storedMachineImages(engine: ContainerEngine): Promise<StoredImage[]> {
  const only = ["--filter", `reference=${machineImageRepository}`];
  const tags = await askForList(engine, "listing machine images", ["images", ...only], "Tag");
  const references = tags.filter((tag) => tag !== "<none>").map((tag) => `${machineImageRepository}:${tag}`);
  const looking = "looking at machine images";
  const [images, owners] = await Promise.all([
    askAbout(engine, looking, ["image", "inspect"], references, imageShape),
    ownersByImage(engine),
  ]);
  const stored = images.map(({ Id, Size, Created }, index) =>
    storedImage(engine.name, references[index] ?? "", {
      size: Size,
      made: Created,
      owners: owners.get(bare(Id)) ?? [],
    }),
  );
  return (await Promise.all(stored)).sort((left, right) => (left.made < right.made ? 1 : -1));
}

async function storedImage(
  engine: EngineName,
  reference: string,
  { size, made, owners }: { readonly size: number; readonly made: string; readonly owners: readonly string[] },
): Promise<StoredImage> {
  const tag = reference.slice(machineImageRepository.length + 1);
  const kubernetesVersion = tag.replace(/-[0-9a-f]+$/, "");
  return {
    reference,
    tag,
    kubernetesVersion,
    engine,
    sizeGiB: Math.round((size / 2 ** 30) * 100) / 100,
    made: new Date(made).toISOString(),
    current: reference === (await machineImageReference(kubernetesVersion)),
    stacks: [...new Set(owners)].sort(),
  };
}

/** For each image's id, the owners of the machines that were made from it. */
async function ownersByImage(engine: ContainerEngine): Promise<ReadonlyMap<string, readonly string[]>> {
  const ours = ["ps", "--all", "--no-trunc", "--filter", `label=${labelNames.owner}`];
  const ids = await askForList(engine, "listing machines", ours, "ID");
  const machines = await Promise.all(ids.map((id) => lookAt(engine, id)));
  const owners = new Map<string, string[]>();
  for (const { Image, Config } of machines.flat()) {
    const owner = Config.Labels?.[labelNames.owner];
    const image = bare(Image);
    owners.set(image, [...(owners.get(image) ?? []), ...(owner === undefined ? [] : [owner])]);
  }
  return owners;
}

/** None where the machine is gone since it was listed. */
async function lookAt(engine: ContainerEngine, id: string): Promise<z.output<typeof machineShape>[]> {
  try {
    return await askAbout(engine, "looking at a machine", ["container", "inspect"], [id], machineShape);
  } catch (error) {
    if (isAbsent(error)) {
      return [];
    }
    throw error;
  }
}

/** Of docker, ids have the kind of their hash before them. */
function bare(id: string): string {
  return id.replace(/^sha256:/, "");
}
