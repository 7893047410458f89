/**
 * A model as a graph of its parts, without what they are given, and that as an indented tree of text. Pure.
 */
import type * as CloudModel from "../cloud/model";
import { columns } from "./table";

export interface GraphPart {
  readonly name: string;
  /** What it is, as in `local:Machine`. */
  readonly kind: string;
  /** The component that it belongs to; `null` is the cluster itself. */
  readonly component: CloudModel.ComponentReference | null;
  /** Names of the parts that it takes something from, or that must be there first. */
  readonly needs: readonly string[];
  /** Those of them that no other one has waited for already. */
  readonly waitsFor: readonly string[];
}

export interface Graph {
  readonly stack: string;
  /** In the order in which the model has them: a part comes after all that it needs. */
  readonly parts: readonly GraphPart[];
}

/**
 * @param made the module that the model was made with: a reference is known by its class, and each bundle has one of its own
 */
export function graphOf(
  model: CloudModel.Model,
  made: Pick<typeof CloudModel, "inOrder" | "referencesIn">,
): GraphPart[] {
  const parts = model.resources();
  const nameOf = (index: number) => parts.get(index)?.name ?? String(index);
  const before = new Map<number, ReadonlySet<number>>();
  return made.inOrder(parts).map(([index, part]) => {
    const needs = needsOf(part, made);
    const implied = new Set(needs.flatMap((needed) => [...(before.get(needed) ?? [])]));
    before.set(index, new Set([...needs, ...implied]));
    return {
      name: part.name,
      kind: "kind" in part ? part.kind : part.type,
      component: part.component ? { type: part.component.type, name: part.component.name } : null,
      needs: needs.map(nameOf),
      waitsFor: needs.filter((needed) => !implied.has(needed)).map(nameOf),
    };
  });
}

function needsOf(part: CloudModel.Part, { referencesIn }: Pick<typeof CloudModel, "referencesIn">): number[] {
  const references = referencesIn(part.inputs).map(({ index }) => index);
  return [...new Set([...references, ...(part.after ?? [])])].sort((left, right) => left - right);
}

/** What a person gets: components stand where the first of their parts is. */
export function graphText({ stack, parts }: Graph): string {
  const rows = branches(parts).flatMap((branch, index, all) => {
    const [fork, stem] = index === all.length - 1 ? ["└─ ", "   "] : ["├─ ", "│  "];
    const [only] = branch;
    if (only !== undefined && only.component === null) {
      return [rowOf(fork, only)];
    }
    const { type = "", name = "" } = only?.component ?? {};
    const within = branch.map((part, place) => rowOf(stem + (place === branch.length - 1 ? "└─ " : "├─ "), part));
    return [[`${fork}${type} ${name}`], ...within];
  });
  return `${[`Cluster of the stack ${stack}`, ...columns(rows)].join("\n")}\n`;
}

function rowOf(lines: string, { name, kind, waitsFor }: GraphPart): string[] {
  return [lines + name, kind, ...(waitsFor.length > 0 ? [`after ${waitsFor.join(", ")}`] : [])];
}

/** Parts of the cluster itself each alone, those of a component together. */
function branches(parts: readonly GraphPart[]): GraphPart[][] {
  const found = new Map<string, GraphPart[]>();
  for (const part of parts) {
    const key = JSON.stringify(part.component ?? part.name);
    found.set(key, [...(found.get(key) ?? []), part]);
  }
  return [...found.values()];
}
