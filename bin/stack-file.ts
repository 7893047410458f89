/**
 * Reading files of settings that people write: a stack's own file, the profile that it starts from, and Pulumi.yaml.
 * What cannot be read is told with its place, before anything is made of it.
 */
import { existsSync, readFileSync } from "node:fs";
import { messageOf, UserError } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";

/** The file's text; empty where there is none. */
export function readText(file: string): string {
  try {
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${messageOf(error)}. Nothing was changed.`);
  }
}

/** The settings under `config:`. */
export async function configIn(file: string): Promise<Readonly<Record<string, unknown>>> {
  const content = await contentOf(file);
  return isPlainObject(content) && isPlainObject(content.config) ? content.config : {};
}

/** Refuses a file that is no YAML, or that holds something else than settings. */
export async function requireReadable(file: string): Promise<void> {
  const content = await contentOf(file);
  const isMap = isPlainObject(content);
  if (content !== null && content !== undefined && !isMap) {
    throw new UserError(`${file} holds no settings: they stand under "config:", one a line. Nothing was changed.`);
  }
  if (isMap && content.config !== undefined && content.config !== null && !isPlainObject(content.config)) {
    throw new UserError(
      `What stands under "config:" in ${file} must be settings, as in "cloud: local". Nothing was changed.`,
    );
  }
}

async function contentOf(file: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(readText(file));
  const problem = document.errors[0];
  if (problem) {
    // The first line names the place: "... at line 3, column 5:"; the others draw it.
    const [what = ""] = problem.message.split("\n");
    throw new UserError(`${file} cannot be read: ${what.replace(/:$/, "")}. Nothing was changed.`);
  }
  return document.toJS();
}
