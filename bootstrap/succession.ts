/**
 * A slot's succession: the machines that one place of a pool has had one after the other, each under a name of its own,
 * so that a new one can be Ready before the old one is drained.
 */
import { z } from "zod";
import type { Context } from "../cloud/resource";
import { type ClusterApi, retried } from "./api";
import { drainNode } from "./drain";
import { deleteNode, readNode } from "./nodes";

/** Whose turn it is to be replaced, and how many of its pool may be at the same time (cloud/rollout.ts). */
export const turnSchema = z.strictObject({
  group: z.string().min(1),
  slot: z.string().min(1),
  atATime: z.number().int().min(1),
});

export const formerSchema = z.strictObject({
  /** How often the slot's machine has got another name. */
  round: z.number().int().min(0),
  /** The names of earlier machines, the last one first. */
  machines: z.array(z.string()),
});

/** The machines that a slot has had before. */
export type Former = z.output<typeof formerSchema>;

/** The past of a slot that has its first machine. It is recorded too: what is not recorded is unknown to a preview. */
export const noPast: Former = { round: 0, machines: [] };

/** How many earlier machines are remembered: more than a person goes back and forth before one `up` has ended well. */
const remembered = 4;

/** The slot's past once a machine of another name takes the place of this one. Pure. */
export function succeeded(former: Former | undefined, machine: string, next: string): Former {
  const names = [machine, ...(former?.machines ?? [])].filter((name) => name !== next);
  return { round: (former?.round ?? 0) + 1, machines: [...new Set(names)].slice(0, remembered) };
}

/**
 * Whether the slot's machine has had another name in between, and has its own again: what was begun under the other one
 * has to go. In a preview the past may not be known yet, and then nothing is said about it.
 */
export function cameBack(actual: { former?: Former | undefined }, wanted: { former?: Former | undefined }): boolean {
  const past: unknown = wanted.former;
  return typeof past === "object" && (wanted.former?.round ?? 0) !== (actual.former?.round ?? 0);
}

/** Drains and removes the nodes of the slot's earlier machines, once the machine's own is Ready. */
export async function retireFormer(
  api: ClusterApi,
  { machine, former, drainSeconds }: { machine: string; former?: Former | undefined; drainSeconds: number },
  context: Context,
): Promise<void> {
  for (const name of former?.machines.filter((other) => other !== machine) ?? []) {
    const found = await retried(context, () => readNode(api, name, context));
    if (found) {
      context.progress(`draining ${name}, whose place it takes`);
      await drainNode(api, found, drainSeconds, context);
      await retried(context, () => deleteNode(api, name, context));
    }
  }
}
