/**
 * Where a stack is kept, and the files of it where the backend is a folder.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface StackPlace {
  readonly project: string;
  /** The stack's own part of its name: `local` of `organization/project/local`. */
  readonly stack: string;
  /** The name as Pulumi takes it. */
  readonly fullName: string;
  /** The backend's folder, where it is one. */
  readonly backendFolder?: string | undefined;
}

/** The folder with the state of all of the project's stacks, where the backend is a folder. */
export function stateFolderOf({ backendFolder, project }: Omit<StackPlace, "stack" | "fullName">): string | undefined {
  return backendFolder && join(backendFolder, ".pulumi", "stacks", project);
}

/** The stack's state, where the backend is a folder. It need not be there. */
export function stateFileOf(place: StackPlace): string | undefined {
  const folder = stateFolderOf(place);
  if (!folder) {
    return undefined;
  }
  const plain = join(folder, `${place.stack}.json`);
  return existsSync(plain) || !existsSync(`${plain}.gz`) ? plain : `${plain}.gz`;
}
