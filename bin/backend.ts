/**
 * Where the stacks' state is kept: the backend that the person has chosen, else a folder inside the project.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isPlainObject } from "../cloud/json";
import type { Project } from "./project";

export interface Backend {
  readonly url: string;
  /** Whether it is the project's own folder, which only this command names to Pulumi. */
  readonly own: boolean;
  /** The folder of the state, where the backend is one on this computer. */
  readonly folder?: string;
}

/** The git-ignored folder of the project's own state. */
export function ownStateFolder(project: Project): string {
  return join(project.folder, ".pulumi-state");
}

/** The same choice that Pulumi makes, with our folder where Pulumi would ask the person to log in. */
export function chooseBackend(project: Project, environment = process.env): Backend {
  const url = environment.PULUMI_BACKEND_URL || project.backend || loggedInTo(environment);
  if (url) {
    const folder = folderOf(url, project);
    return { url, own: false, ...(folder && { folder }) };
  }
  const folder = ownStateFolder(project);
  return { url: fileUrl(folder), own: true, folder };
}

/** Makes the project's own folder of state, which Pulumi does not. */
export function ensureStateFolder(backend: Backend): void {
  if (backend.own && backend.folder) {
    // Only the person looks into it: it has the passphrase, and every secret encrypted with it.
    mkdirSync(backend.folder, { recursive: true, mode: 0o700 });
  }
}

/** The address of a folder as Pulumi reads it: only these characters and control characters are special there. */
function fileUrl(folder: string): string {
  return `file://${folder.replace(/[%?#\p{Cc}]/gu, encodeURIComponent)}`;
}

function folderOf(url: string, project: Project): string | undefined {
  const [, path] = /^file:\/\/([^?#]*)/.exec(url) ?? [];
  if (path === undefined) {
    return undefined;
  }
  return resolve(project.folder, decodeURIComponent(path).replace(/^~(?=\/|$)/, homedir()));
}

function loggedInTo(environment: NodeJS.ProcessEnv): string | undefined {
  if (environment.PULUMI_ACCESS_TOKEN) {
    return "https://api.pulumi.com";
  }
  const home = environment.PULUMI_CREDENTIALS_PATH || environment.PULUMI_HOME || join(homedir(), ".pulumi");
  const file = join(home, "credentials.json");
  if (!existsSync(file)) {
    return undefined;
  }
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isPlainObject(content) && typeof content.current === "string" ? content.current || undefined : undefined;
  } catch {
    // Pulumi itself tells what is wrong with the file, when it needs it.
    return undefined;
  }
}
