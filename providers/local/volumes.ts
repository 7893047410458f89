/**
 * The volume of a machine's /var: an overlay file system cannot lie on another one, so what containerd unpacks into must be
 * one. Each making of a machine gets a new one, since an old one would bring the membership of a former cluster along.
 */
import { randomBytes } from "node:crypto";
import { type ContainerEngine, isAbsent } from "./engine";
import { labelArguments, labelNames, type Ownership, ownershipLabels } from "./labels";

/** Makes a volume for the machine's container and gives its name. */
export async function makeVolume(engine: ContainerEngine, container: string, owner: Ownership): Promise<string> {
  const name = `${container}-${randomBytes(3).toString("hex")}`;
  const labels = labelArguments({ ...ownershipLabels(owner), [labelNames.volumeOf]: container });
  await engine.run(`making volume ${name}`, ["volume", "create", ...labels, name]);
  return name;
}

/**
 * Removes the volumes of a container, also those of makings that were cut off. Already gone is success.
 *
 * @param container its name, which holds the cluster's identity and so is nobody else's
 * @param except the volume that it has now
 */
export async function removeVolumes(engine: ContainerEngine, container: string, except?: string): Promise<void> {
  await removeLabelled(engine, `${labelNames.volumeOf}=${container}`, except);
}

/** Removes all volumes of the cluster's machines. */
export async function removeAllVolumes(engine: ContainerEngine, identity: string): Promise<void> {
  await removeLabelled(engine, `${labelNames.identity}=${identity}`);
}

/** One label only: of several, podman takes what has any of them, and docker what has all. */
async function removeLabelled(engine: ContainerEngine, label: string, except?: string): Promise<void> {
  const listed = await engine.run("listing volumes", ["volume", "ls", "--quiet", "--filter", `label=${label}`]);
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
