/**
 * What a machine finds at its first boot: user data and metadata for cloud-init's NoCloud data source, as an archive
 * that the engine unpacks into the container before it is started.
 */
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";

/** Where cloud-init looks for them. */
const folder = "var/lib/cloud/seed/nocloud";

/**
 * The archive for a machine.
 *
 * @param instance an id that is another one for another machine, also under the same name
 */
export async function seedArchive(machine: string, instance: string, userData: string): Promise<Buffer> {
  const archive = pack();
  const metaData = JSON.stringify({ "instance-id": instance, "local-hostname": machine });
  for (const name of ["var", "var/lib", "var/lib/cloud", "var/lib/cloud/seed", folder]) {
    archive.entry({ name, type: "directory", mode: 0o755 });
  }
  for (const [name, content] of Object.entries({ "user-data": userData, "meta-data": metaData })) {
    archive.entry({ name: `${folder}/${name}`, mode: 0o600 }, content);
  }
  archive.finalize();
  return buffer(archive);
}
