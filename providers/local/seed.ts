/**
 * What a machine finds at its first boot: user data and metadata for cloud-init's NoCloud data source, as an archive
 * that the engine unpacks into the container before it is started.
 */
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";

/** Where the machine image's cloud-init looks for them. It is no volume, so that the engine can write there. */
export const seedFolder = "/etc/kubicorn/first-boot";

/**
 * The archive for a machine.
 *
 * @param instance an id that is another one for another machine, also under the same name
 */
export async function seedArchive(machine: string, instance: string, userData: string): Promise<Buffer> {
  const archive = pack();
  const metaData = JSON.stringify({ "instance-id": instance, "local-hostname": machine });
  archive.entry({ name: "user-data", mode: 0o600 }, userData);
  archive.entry({ name: "meta-data", mode: 0o600 }, metaData);
  archive.finalize();
  return buffer(archive);
}
