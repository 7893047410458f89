/**
 * The runs of a stack that have come to their end, as its history tells.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { EndedRun } from "./journal";
import type { PulumiCli } from "./pulumi-command";
import type { StackPlace } from "./stack-place";

const told = z.array(z.looseObject({ startTime: z.string(), message: z.string().default("") }));
const entry = z.looseObject({ message: z.string().default("") });

/** @param since only those after that one. @returns the newest last */
export async function endedRuns(place: StackPlace, cli: PulumiCli, since: string | undefined): Promise<EndedRun[]> {
  const all = place.backendFolder === undefined ? await askForHistory(place, cli) : historyIn(place, since);
  return all.filter(({ id }) => since === undefined || id > since).sort((left, right) => (left.id < right.id ? -1 : 1));
}

async function askForHistory({ fullName }: StackPlace, cli: PulumiCli): Promise<EndedRun[]> {
  const text = await cli.ask(["stack", "history", "--json", "--page-size", "50", "--stack", fullName]);
  return told.parse(JSON.parse(text)).map(({ startTime, message }) => ({ id: startTime, message }));
}

/** A backend that is a folder has one file a run, with the time in its name: reading names is a thousand times faster. */
function historyIn({ backendFolder = "", project, stack }: StackPlace, since: string | undefined): EndedRun[] {
  const folder = join(backendFolder, ".pulumi", "history", project, stack);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    const id = new RegExp(`^${escaped(stack)}-(\\d+)\\.history\\.json(\\.gz)?$`).exec(name)?.[1];
    if (id === undefined) {
      return [];
    }
    // Of those that are not asked for, the message does not matter.
    return [{ id, message: since === undefined || id <= since ? "" : messageIn(join(folder, name)) }];
  });
}

function messageIn(file: string): string {
  const content = readFileSync(file);
  return entry.parse(JSON.parse((file.endsWith(".gz") ? gunzipSync(content) : content).toString("utf8"))).message;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
