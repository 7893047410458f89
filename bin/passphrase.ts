/**
 * The passphrase that encrypts the secrets of the state: the person's own, else one that is made once and kept beside
 * the state in a file that only they can read.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { link, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../cloud/errors";
import { unwritable } from "../setup/unwritable";
import { type Backend, ownStateFolder } from "./backend";
import type { Project } from "./project";

/** What Pulumi must find in its environment to encrypt and decrypt; makes the passphrase on the first run. */
export async function passphraseEnvironment(
  project: Project,
  backend: Backend,
  environment = process.env,
): Promise<Record<string, string>> {
  const file = join(ownStateFolder(project), "passphrase");
  const theirs = environment.PULUMI_CONFIG_PASSPHRASE_FILE;
  const hasOwn = environment.PULUMI_CONFIG_PASSPHRASE !== undefined || (theirs && theirs !== file);
  // Pulumi's own service, and those like it, keep the keys themselves.
  if (hasOwn || /^https?:/.test(backend.url)) {
    return {};
  }
  if (!existsSync(file)) {
    refuseIfLost(project, backend, file);
    await makePassphrase(file);
  }
  return { PULUMI_CONFIG_PASSPHRASE_FILE: file };
}

async function makePassphrase(file: string): Promise<void> {
  const own = `${file}-${process.pid}`;
  try {
    await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
    await writeFile(own, randomBytes(24).toString("base64url"), { mode: 0o600 });
    // Of two first runs at once both go on with the same passphrase.
    await link(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw unwritable(file, error);
    }
  } finally {
    await rm(own, { force: true });
  }
}

function refuseIfLost(project: Project, backend: Backend, file: string): void {
  const witness = encryptedThing(project, backend);
  if (witness) {
    throw new UserError(
      `The passphrase file ${file} is gone, but ${witness} was encrypted with it. Ways out:\n` +
        "  - bring the file back from a copy, or\n" +
        "  - set PULUMI_CONFIG_PASSPHRASE (or PULUMI_CONFIG_PASSPHRASE_FILE), if you know the passphrase, or\n" +
        "  - give the stacks up: remove what they made by hand (on this computer: the containers, volumes and networks\n" +
        `    with the label kubicorn.io/cluster), then remove the folders ${backend.folder ?? "of the state"} and\n` +
        `    ${project.stackFiles}, and begin anew.\n` +
        "Nothing was changed.",
    );
  }
}

/** A file of this project that an earlier passphrase has encrypted. */
function encryptedThing(project: Project, backend: Backend): string | undefined {
  const states = filesIn(backend.folder && join(backend.folder, ".pulumi", "stacks", project.name));
  const ofStacks = filesIn(project.stackFiles).filter(
    (file) => /Pulumi\..+\.ya?ml$/.test(file) && /^encryptionsalt:/m.test(readFileSync(file, "utf8")),
  );
  return [...states.filter((file) => /\.json(\.gz)?$/.test(file)), ...ofStacks][0];
}

function filesIn(folder: string | undefined): string[] {
  return folder && existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}
