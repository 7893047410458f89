/**
 * What a difference means for a machine: a start, another size in place, or a replacement, with a sentence that says why.
 * Pure.
 */
import { cameBack } from "../../bootstrap/succession";
import { unmet } from "../../cloud/conditions";
import { type Fact, type Plan, planByProperty } from "../../cloud/resource";
import type { MachineActual, MachineExpected } from "./machine";
import { sizeChange } from "./machine-size";

/** The condition of a machine that runs and whose SSH server does not answer. */
export const sshCondition = "SSH";

/** Whether the machine ran when it was looked at, and could not be entered. */
export function lacksSsh({ conditions }: Pick<MachineActual, "conditions">): boolean {
  return unmet(conditions).some(({ type }) => type === sshCondition);
}

export function planOfMachine(actual: MachineActual, wanted: MachineExpected): Plan {
  const replacements = planByProperty<MachineExpected>(
    {
      name: { replace: "replaceName" },
      identity: { replace: "replaceIdentity" },
      role: { replace: "replaceRole" },
      engine: { replace: "replaceEngine" },
      network: { replace: "replaceNetwork" },
      ...(wanted.role === "worker" && { cpus: { replace: "replaceSize" }, memoryGiB: { replace: "replaceSize" } }),
    },
    actual,
    wanted,
  );
  const [first, ...others] = replacements;
  if (first) {
    return [{ ...first, note: noteOf(replacements, actual, wanted) }, ...others];
  }
  return [...updates(actual, wanted)];
}

function updates(actual: MachineActual, wanted: MachineExpected): Fact[] {
  const size = sizeChange(actual, wanted);
  const facts: Fact[] = [];
  if (size !== undefined) {
    const note = `${wanted.name} gets another size while it runs: ${size}.`;
    facts.push({ name: "updateSize", property: "memoryGiB", action: "update", note });
  }
  if (cameBack(actual, wanted)) {
    facts.push({ name: "removeHalfMade", property: "former", action: "update" });
  }
  return facts.length === 0 ? mending(actual) : facts;
}

function mending({ name, conditions }: MachineActual): Fact[] {
  const [problem] = unmet(conditions);
  if (problem === undefined) {
    return [];
  }
  const fact = { property: "name", action: "update" } as const;
  return problem.type === sshCondition
    ? [{ ...fact, name: "restartMachine", note: `${name} is restarted, and its pods with it: ${problem.message}.` }]
    : [{ ...fact, name: "startMachine", note: `${name} is started: ${problem.message}.` }];
}

/** Why a machine is replaced, and what becomes of what is on it. */
function noteOf(replacements: Plan, actual: MachineActual, wanted: MachineExpected): string {
  if (actual.role === "control-plane") {
    return (
      `${actual.name} is made anew, since ${reasonOf(replacements)}. It is the only control plane: ` +
      "everything that is stored in the cluster, every object of its API, is gone with it."
    );
  }
  if (actual.name !== wanted.name) {
    const reason = sizeChange(actual, wanted) ?? "its pool has another image";
    return (
      `${actual.name} is replaced by ${wanted.name} (${reason}). ` +
      "The new machine is a Ready node before the old one is drained and removed."
    );
  }
  return `${actual.name} is made anew under its name, since ${reasonOf(replacements)}. Its pods start elsewhere meanwhile.`;
}

function reasonOf(replacements: Plan): string {
  const words: Record<string, string> = {
    replaceName: "it has another name",
    replaceIdentity: "the cluster's SSH key is another one",
    replaceRole: "it has another role",
    replaceEngine: "the container engine is another one",
    replaceNetwork: "the cluster's network is another one",
    replaceSize: "it has another size",
  };
  return [...new Set(replacements.map(({ name }) => words[name] ?? name))].join(" and ");
}
