/**
 * The Pulumi project that the command works on: the nearest Pulumi.yaml, from the current folder upward.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf, UserError } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";

export interface Project {
  readonly name: string;
  /** The folder of Pulumi.yaml. */
  readonly folder: string;
  /** The folder of the stacks' own files, Pulumi.<stack>.yaml. */
  readonly stackFiles: string;
  /** The backend that the project names, if it names one. */
  readonly backend?: string;
}

export async function findProject(start: string): Promise<Project> {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const file = join(folder, "Pulumi.yaml");
    if (existsSync(file)) {
      return readProject(file);
    }
    if (folder === dirname(folder)) {
      throw new UserError(
        `There is no Pulumi.yaml in ${resolve(start)} or in a folder above it. ` +
          "Go to the folder of your project, or name it with --cwd.",
      );
    }
  }
}

async function readProject(file: string): Promise<Project> {
  const folder = dirname(file);
  const text = readFileSync(file, "utf8");
  const { name, stackConfigDir, backend } = plainFields(text) ?? (await parsedFields(text, file));
  if (typeof name !== "string") {
    throw new UserError(`${file} has no name: a project needs one, as in "name: my-cluster".`);
  }
  const url = isPlainObject(backend) ? backend.url : undefined;
  return {
    name,
    folder,
    stackFiles: resolve(folder, typeof stackConfigDir === "string" ? stackConfigDir : ""),
    ...(typeof url === "string" && { backend: url }),
  };
}

/**
 * The fields, where they stand there in the simplest form, as they mostly do.
 * Loading and running a YAML parser takes a third of the time that this command needs before it starts Pulumi.
 */
function plainFields(text: string): Record<string, unknown> | undefined {
  const name = /^name: ([A-Za-z0-9_.-]+)$/m.exec(text)?.[1];
  const stackConfigDir = /^stackConfigDir: ([A-Za-z0-9_-]+)$/m.exec(text)?.[1];
  const others = /^["']?(backend|stackConfigDir)\b/m.test(text.replace(/^stackConfigDir: [A-Za-z0-9_-]+$/m, ""));
  return name && !others ? { name, stackConfigDir } : undefined;
}

async function parsedFields(text: string, file: string): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml");
  try {
    const content: unknown = parse(text);
    return isPlainObject(content) ? content : {};
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${messageOf(error)}`);
  }
}
