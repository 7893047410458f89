/**
 * The stacks that a project has here: those with a file of settings, and those with state in a folder of this computer.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { chooseBackend } from "./backend";
import type { Project } from "./project";

export function stackNames(project: Project): string[] {
  const { folder } = chooseBackend(project);
  const state = folder && join(folder, ".pulumi", "stacks", project.name);
  return [
    ...new Set([
      ...[project.folder, project.stackFiles].flatMap((files) => namesIn(files, /^Pulumi\.(.+)\.yaml$/)),
      ...(state ? namesIn(state, /^(.+)\.json(?:\.gz)?$/) : []),
    ]),
  ].sort();
}

function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder).flatMap((file) => pattern.exec(file)?.[1] ?? []);
  } catch {
    // A folder that is made only with the first stack, for one.
    return [];
  }
}
