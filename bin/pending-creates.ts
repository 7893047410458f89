/**
 * Creations that a killed run left unfinished stay in the state also after the next run has adopted them, and every
 * later run warns of them. After a run that succeeded they are cleared.
 */
import { existsSync, readFileSync } from "node:fs";
import { isPlainObject } from "../cloud/json";
import type { PulumiRunner } from "./pulumi";
import { type Stack, stateFile } from "./stack";

/** Clears what was adopted; what the program no longer has is only told, since it may still be there. */
export async function clearPendingCreates(
  stack: Stack,
  pulumi: PulumiRunner,
  say: (line: string) => void,
): Promise<void> {
  const text = await readState(stack);
  if (!text.includes('"pending_operations"')) {
    return;
  }
  const { adopted, lost, stackUrn } = pendingCreates(text);
  if (lost.length > 0) {
    say(
      `An interrupted run was making ${lost.join(", ")}, which the program no longer has: look whether it is there and ` +
        `remove it by hand, then: pulumi refresh --clear-pending-creates --stack ${stack.name}`,
    );
  } else if (adopted.length > 0 && stackUrn) {
    say(`Clearing the record of an interrupted run; what it was making is adopted: ${adopted.join(", ")}.`);
    const only = ["--target", stackUrn, "--clear-pending-creates", "--skip-preview", "--yes"];
    await pulumi.ask(["refresh", "--stack", stack.name, ...only]);
  }
}

export interface PendingCreates {
  /** Names of resources that were being made and are now recorded. */
  readonly adopted: string[];
  /** Names of those that no resource stands for. */
  readonly lost: string[];
  readonly stackUrn?: string;
}

/** @param text the state file of the stack */
export function pendingCreates(text: string): PendingCreates {
  const deployment = field(field(JSON.parse(text), "checkpoint"), "latest");
  const recorded = new Set(list(field(deployment, "resources")).map((resource) => String(field(resource, "urn"))));
  const creating = list(field(deployment, "pending_operations"))
    .filter((operation) => field(operation, "type") === "creating")
    .map((operation) => String(field(field(operation, "resource"), "urn")));
  const named = (urns: string[]) => urns.map((urn) => urn.split("::").pop() ?? urn);
  return {
    adopted: named(creating.filter((urn) => recorded.has(urn))),
    lost: named(creating.filter((urn) => !recorded.has(urn))),
    stackUrn: [...recorded].find((urn) => urn.includes("::pulumi:pulumi:Stack::")),
  };
}

/** Whether the state, given as its text, has nothing that exists anywhere but in it: components, and providers of Pulumi. */
export function isEmptyState(text: string): boolean {
  if (text === "") {
    return false;
  }
  const deployment = field(field(JSON.parse(text), "checkpoint"), "latest");
  const things = list(field(deployment, "resources")).filter(
    (one) => field(one, "custom") === true && !String(field(one, "type")).startsWith("pulumi:providers:"),
  );
  return things.length === 0 && list(field(deployment, "pending_operations")).length === 0;
}

/** The state's text; empty where the backend is no folder, or there is none yet. */
export async function readState(stack: Stack): Promise<string> {
  const file = stateFile(stack);
  if (!file || !existsSync(file)) {
    return "";
  }
  const content = readFileSync(file);
  return (file.endsWith(".gz") ? (await import("node:zlib")).gunzipSync(content) : content).toString("utf8");
}

function field(value: unknown, name: string): unknown {
  return isPlainObject(value) ? value[name] : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
