/**
 * `list`: the project's stacks, each with what is recorded of it. Only reads; where the backend is no folder, Pulumi is asked.
 */
import { existsSync, statSync } from "node:fs";
import { z } from "zod";
import { messageOf, UserError } from "../cloud/errors";
import { isThing, live } from "../cloud/rollback";
import { onlyDeadLocks } from "../reconciler/lock";
import { parseSnapshot } from "../reconciler/snapshot";
import { findPulumiCli } from "../setup/pulumi-cli";
import type { Arguments } from "./arguments";
import { chooseBackend } from "./backend";
import type { Interruption } from "./interruption";
import { printAs } from "./output";
import { readState } from "./pending-creates";
import { findProject, type Project } from "./project";
import { pulumiRunner } from "./pulumi";
import { withoutProxy } from "./session";
import { placeOf, type Stack, shortName, stateFile } from "./stack";
import { nextConfig } from "./stack-config";
import { stackNames } from "./stack-names";
import { table } from "./table";

/** What is recorded of a stack. What cannot be told is `null`. */
export interface Recorded {
  readonly state: "none" | "empty" | "made" | "interrupted" | "in use" | "cut short";
  /** How many things are recorded; of a backend that is no folder, as Pulumi counts: with components. */
  readonly resources: number | null;
  /** How many machines are recorded as nodes of the cluster. */
  readonly nodes: number | null;
  /** How many operations a run has begun and not ended. */
  readonly pendingOperations: number | null;
  /** Who is working on it. */
  readonly inUse: string | null;
  /** When the record was last written. */
  readonly changed: string | null;
}

export interface ListedStack extends Recorded {
  readonly name: string;
  /** As configured, like the Kubernetes version. */
  readonly cloud: string | null;
  readonly kubernetesVersion: string | null;
  /** Why its settings cannot be read. */
  readonly problem: string | null;
}

const nothing: Recorded = {
  state: "none",
  resources: null,
  nodes: null,
  pendingOperations: null,
  inUse: null,
  changed: null,
};

export interface ListArguments extends Arguments {
  readonly options: { readonly output: string | undefined };
}

export async function list({ cwd, options }: ListArguments, interruption: Interruption): Promise<number> {
  const project = await findProject(cwd ?? process.cwd());
  const backend = chooseBackend(project);
  const recorded = backend.folder === undefined ? await askPulumi(project, interruption) : undefined;
  const elsewhere = new Set([...(recorded?.keys() ?? [])].map(shortName));
  const names = [...stackNames(project).filter((name) => !elsewhere.has(name)), ...(recorded?.keys() ?? [])].sort();
  const stacks = await Promise.all(
    names.map(async (name): Promise<ListedStack> => {
      const stack = { name, project, backend };
      const found = backend.folder === undefined ? recorded?.get(name) : await recordedInFolder(stack);
      return { name, ...(await configured(stack)), ...(found ?? nothing) };
    }),
  );
  await printAs(options.output, { value: stacks, table: () => stackTable(stacks) });
  return 0;
}

/** What a person gets. */
export function stackTable(stacks: readonly ListedStack[]): string {
  const rows = stacks.map((stack) => [
    stack.name,
    stack.cloud ?? "?",
    stack.kubernetesVersion ?? "?",
    String(stack.nodes ?? "-"),
    stack.changed === null ? "-" : new Date(stack.changed).toLocaleString(),
    [stateWords(stack), ...(stack.problem === null ? [] : [stack.problem])].join("; "),
  ]);
  return table(["stack", "cloud", "kubernetes", "nodes", "changed", "state"], rows);
}

function stateWords({ state, resources, pendingOperations, inUse }: ListedStack): string {
  const things = `${resources ?? 0} resource${resources === 1 ? "" : "s"}`;
  switch (state) {
    case "made":
      return things;
    case "interrupted":
      return `interrupted: ${things}, ${pendingOperations ?? 0} pending; the next run takes it up`;
    case "in use":
      return `in use: ${inUse}`;
    case "cut short":
      return "cut short: the next run mends it, or says why it cannot";
    default:
      return state;
  }
}

/** @param text the stack's state file */
export function recordIn(text: string): Pick<Recorded, "state" | "resources" | "nodes" | "pendingOperations"> {
  try {
    const { checkpoint } = z
      .object({ checkpoint: z.object({ latest: z.unknown().optional() }) })
      .parse(JSON.parse(text));
    const snapshot = parseSnapshot(JSON.stringify({ deployment: checkpoint.latest }));
    const things = live(snapshot.resources).filter(isThing);
    const pending = snapshot.pendingOperations.length;
    return {
      state: pending > 0 ? "interrupted" : things.length > 0 ? "made" : "empty",
      resources: things.length,
      nodes: things.filter(({ type }) => type.endsWith("/guest:Node")).length,
      pendingOperations: pending,
    };
  } catch {
    return { state: "cut short", resources: null, nodes: null, pendingOperations: null };
  }
}

async function recordedInFolder(stack: Stack): Promise<Recorded> {
  const file = stateFile(stack);
  if (file === undefined || !existsSync(file)) {
    return nothing;
  }
  // A compressed file that was cut short cannot be unpacked.
  const record = recordIn(await readState(stack).catch(() => ""));
  const changed = statSync(file).mtime.toISOString();
  try {
    const interrupted = (await onlyDeadLocks(placeOf(stack))) && record.state !== "cut short";
    return { ...record, ...(interrupted && { state: "interrupted" }), inUse: null, changed };
  } catch (error) {
    if (!(error instanceof UserError)) {
      throw error;
    }
    return { ...record, state: "in use", inUse: userOf(messageOf(error)), changed };
  }
}

/** From the sentence that says to somebody else why they cannot run: only who it is. */
function userOf(sentence: string): string {
  return sentence.replace(/^.*? is in use: /, "").replace(/\. Wait until .*$/s, "");
}

async function configured(stack: Stack): Promise<Pick<ListedStack, "cloud" | "kubernetesVersion" | "problem">> {
  try {
    const config = await nextConfig(stack);
    const textOf = (name: string) => {
      const value = config[`${stack.project.name}:${name}`];
      return typeof value === "string" ? value : null;
    };
    return { cloud: textOf("cloud"), kubernetesVersion: textOf("kubernetesVersion"), problem: null };
  } catch (error) {
    return { cloud: null, kubernetesVersion: null, problem: messageOf(error).replace(/ Nothing was changed\.$/, "") };
  }
}

const listedByPulumi = z.array(
  z.object({
    name: z.string(),
    lastUpdate: z.string().optional(),
    updateInProgress: z.boolean().optional(),
    resourceCount: z.number().optional(),
  }),
);

/** @param text what `pulumi stack ls --json` prints */
export function recordedElsewhere(text: string): ReadonlyMap<string, Recorded> {
  return new Map(
    listedByPulumi.parse(JSON.parse(text)).map(({ name, lastUpdate, updateInProgress, resourceCount }) => {
      const state = updateInProgress ? "in use" : resourceCount ? "made" : "empty";
      const inUse = updateInProgress ? "a run has not ended" : null;
      return [name, { ...nothing, state, resources: resourceCount ?? 0, inUse, changed: lastUpdate ?? null }];
    }),
  );
}

async function askPulumi(project: Project, interruption: Interruption): Promise<ReadonlyMap<string, Recorded>> {
  const cli = await findPulumiCli();
  if (cli === undefined) {
    throw new UserError(
      "The state of these stacks is not on this computer, and the Pulumi CLI, which can ask for it, is not there yet. " +
        "Run preview first, which sets it up.",
    );
  }
  const environment = { PULUMI_SKIP_UPDATE_CHECK: "true", ...withoutProxy(process.env) };
  const pulumi = pulumiRunner({ cli: cli.folder, project: project.folder, environment }, interruption);
  return recordedElsewhere(await pulumi.ask(["stack", "ls", "--json"]));
}
