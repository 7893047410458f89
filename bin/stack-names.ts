/**
 * The stacks that a project has here: those with a file of settings, and those with state in a folder of this computer.
 */
import { readdirSync } from "node:fs";
import { chooseBackend } from "./backend";
import type { Project } from "./project";
import { stateFolder } from "./stack";

export function stackNames(project: Project): string[] {
  const state = stateFolder({ project, backend: chooseBackend(project) });
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
