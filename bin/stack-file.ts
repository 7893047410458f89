/**
 * Reading files of settings that people write: a stack's own file, the profile that it starts from, and Pulumi.yaml.
 * What cannot be read is told with its place, before anything is made of it.
 */
import { existsSync, readFileSync } from "node:fs";
import { distance } from "fastest-levenshtein";
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

/** Refuses a file that is no YAML, or whose settings stand where nobody reads them: then the defaults would be taken. */
export async function requireReadable(file: string): Promise<void> {
  const content = await contentOf(file);
  const isMap = isPlainObject(content);
  if (content !== null && content !== undefined && !isMap) {
    throw new UserError(`${file} holds no settings: they stand under "config:", one a line. Nothing was changed.`);
  }
  const misplaced = isMap ? Object.keys(content).filter(isMeantAsSetting) : [];
  if (misplaced.length > 0) {
    throw new UserError(
      `Nothing reads ${misplaced.join(", ")} in ${file}: settings stand under "config:", each indented by the same ` +
        'number of spaces, as in "  pulumi-kubicorn:cloud: local". Nothing was changed.',
    );
  }
  if (isMap && content.config !== undefined && content.config !== null && !isPlainObject(content.config)) {
    throw new UserError(
      `What stands under "config:" in ${file} must be settings, as in "cloud: local". Nothing was changed.`,
    );
  }
}

/** Whether a key at the file's left edge was meant to be a setting, or to be "config:" itself; others are Pulumi's, or notes. */
function isMeantAsSetting(key: string): boolean {
  return key.includes(":") || (key !== "config" && distance(key.toLowerCase(), "config") <= 2);
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
