/**
 * The sentence for a place that cannot be written: which, why, and what the person can do about it.
 */
import { messageOf, UserError } from "../cloud/errors";

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Make room there, then run the same again",
  EDQUOT: "your share of the disk is used up. Make room there, then run the same again",
  EROFS: "its file system is read-only. Work in a copy of the folder that can be written",
  EACCES: "this user has no right to. Change its owner or its permissions, or work in a copy",
  EPERM: "this user has no right to. Change its owner or its permissions, or work in a copy",
  EISDIR: "it is a folder. Name a file",
  ENOTDIR: "something above it is a file and no folder. Name another place",
};

/** @param place the file or folder */
export function unwritable(place: string, error: unknown): UserError {
  const reason = reasons[codeOf(error)] ?? messageOf(error);
  return new UserError(`${place} cannot be written: ${reason}.`);
}

/** The same for an error of the system that nobody has explained on its way; any other stays as it is. */
export function explained(error: unknown): unknown {
  if (error instanceof UserError || !(codeOf(error) in reasons)) {
    return error;
  }
  const { path, dest } = error as { path?: unknown; dest?: unknown };
  const place = [dest, path].find((name) => typeof name === "string" && name !== "");
  return unwritable(typeof place === "string" ? place : "A file of this run", error);
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}
