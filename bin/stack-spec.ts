/**
 * The cluster that a stack's configuration describes: as it stands now, and as it stood at the last change that succeeded.
 */
import type { ClusterArguments } from "../cloud/spec";
import { library } from "./library";
import type { Session } from "./session";
import { shortName } from "./stack";

/** Not yet checked: the model's rendering does that. */
export async function wantedSpec({ stack, pulumi }: Session): Promise<ClusterArguments> {
  const text = await pulumi.ask(["config", "--json", "--show-secrets", "--stack", stack.name]);
  return specIn(JSON.parse(text), stack);
}

/** @returns `undefined` where no change has succeeded yet */
export async function formerSpec({ stack, pulumi }: Session): Promise<ClusterArguments | undefined> {
  const text = await pulumi.ask(["stack", "history", "--json", "--show-secrets", "--stack", stack.name]);
  const runs = (await historySchema()).parse(JSON.parse(text));
  const newest = runs
    .filter(({ kind, result }) => kind === "update" && result === "succeeded")
    .sort((left, right) => Date.parse(right.startTime) - Date.parse(left.startTime))[0];
  return newest && specIn(newest.config, stack);
}

async function specIn(config: unknown, { name, project }: Session["stack"]): Promise<ClusterArguments> {
  const { z } = await import("zod");
  const values = z.record(z.string(), z.looseObject({ value: z.string().default("") })).parse(config ?? {});
  const texts = Object.fromEntries(Object.entries(values).map(([key, { value }]) => [key, value]));
  return { name: shortName(name), ...library().settingsIn(texts, project.name) };
}

async function historySchema() {
  const { z } = await import("zod");
  return z.array(
    z.looseObject({ kind: z.string(), result: z.string(), startTime: z.string(), config: z.unknown().optional() }),
  );
}
