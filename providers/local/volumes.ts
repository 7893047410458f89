/**
 * The volume of a machine's /var: an overlay file system cannot lie on another one, so what containerd unpacks into must be
 * one. Each making of a machine gets a new one, since an old one would bring the membership of a former cluster along.
 */
import { randomBytes } from "node:crypto";
import { type ContainerEngine, isAbsent } from "./engine";
import { labelArguments, labelNames, type Ownership, ownershipLabels } from "./labels";

export interface VolumeOwner extends Ownership {
  /** The machine's host name. */
  readonly name: string;
}

/** Makes a volume for the machine's container and gives its name. */
export async function makeVolume(engine: ContainerEngine, container: string, owner: VolumeOwner): Promise<string> {
  const name = `${container}-${randomBytes(3).toString("hex")}`;
  const labels = labelArguments({ ...ownershipLabels(owner), [labelNames.machine]: owner.name });
  await engine.run(`making a volume for machine ${owner.name}`, ["volume", "create", ...labels, name]);
  return name;
}

/**
 * Removes the machine's volumes, also those of a making that was cut off. Already gone is success.
 *
 * @param except the volume that the machine has now
 */
export async function removeVolumes(
  engine: ContainerEngine,
  { identity, name }: Pick<VolumeOwner, "identity" | "name">,
  except?: string,
): Promise<void> {
  await removeLabelled(engine, { [labelNames.identity]: identity, [labelNames.machine]: name }, except);
}

/** Removes all volumes of the cluster's machines. */
export async function removeAllVolumes(
  engine: ContainerEngine,
  { identity }: Pick<VolumeOwner, "identity">,
): Promise<void> {
  await removeLabelled(engine, { [labelNames.identity]: identity });
}

async function removeLabelled(
  engine: ContainerEngine,
  labels: Readonly<Record<string, string>>,
  except?: string,
): Promise<void> {
  const filters = Object.entries(labels).flatMap(([label, value]) => ["--filter", `label=${label}=${value}`]);
  const listed = await engine.run("listing volumes", ["volume", "ls", "--quiet", ...filters]);
  const names = listed.split("\n").filter((name) => name !== "" && name !== except);
  await Promise.all(
    names.map((name) =>
      engine.run(`removing volume ${name}`, ["volume", "rm", name]).catch((error: unknown) => {
        if (!isAbsent(error)) {
          throw error;
        }
      }),
    ),
  );
}
