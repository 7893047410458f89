/**
 * Reading what the engine prints. An answer that is cut off, empty or of another shape is an error that says which command
 * gave what: it never means that something is not there.
 */
import type { z } from "zod";
import { RemoteError } from "../../cloud/errors";
import type { ContainerEngine } from "./engine";

/**
 * One column of a list.
 *
 * @param operation what is being done, for the error
 * @param args the command that lists, as in `ps --all`
 * @param column its name, as in `ID`
 * @throws RemoteError where the answer does not begin with the column's heading: without it, an empty answer proves nothing
 */
export async function askForList(
  engine: ContainerEngine,
  operation: string,
  args: readonly string[],
  column: string,
): Promise<string[]> {
  const call = [...args, "--format", `table {{.${column}}}`];
  const [heading = "", ...lines] = (await engine.run(operation, call)).split("\n").map((line) => line.trim());
  if (!new RegExp(`\\b${column}$`, "i").test(heading)) {
    throw unreadable(engine, operation, call, heading, `the heading of a list of ${column}s`);
  }
  return lines.filter((line) => line !== "");
}

/**
 * Things of one kind that exist, each as the schema has it.
 *
 * @param args the command that tells of them as JSON, as in `network inspect`
 * @param names their names or ids; each must be told of
 */
export async function askAbout<T>(
  engine: ContainerEngine,
  operation: string,
  args: readonly string[],
  names: readonly string[],
  schema: z.ZodType<T>,
): Promise<T[]> {
  if (names.length === 0) {
    return [];
  }
  const call = [...args, ...names];
  const text = await engine.run(operation, call);
  const parsed = schema.array().length(names.length).safeParse(fromJson(text));
  if (!parsed.success) {
    throw unreadable(
      engine,
      operation,
      call,
      text,
      `JSON that tells of ${names.length} as this version understands it`,
    );
  }
  return parsed.data;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreadable(
  { name }: ContainerEngine,
  operation: string,
  args: readonly string[],
  text: string,
  wanted: string,
): RemoteError {
  const found = text.trim() === "" ? "nothing" : `"${abbreviated(text.trim().replaceAll(/\s+/g, " "))}"`;
  return new RemoteError(
    operation,
    name,
    `"${abbreviated([name, ...args].join(" "))}" gave ${found}, and not ${wanted}`,
  );
}

function abbreviated(text: string): string {
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
