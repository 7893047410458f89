/**
 * A model as a picture: its parts in their components, and what waits for what. Pure; the text is Mermaid's.
 */
import { type ComponentReference, inOrder, type Model, type Part, referencesIn } from "./model";

/** The flow chart of a model. Edges that follow from others are left out. */
export function drawModel(model: Model, title: string): string {
  const parts = inOrder(model.resources());
  const needs = new Map(parts.map(([index, part]) => [index, needsOf(part)]));
  const lines = ["flowchart LR", `  subgraph cluster["${title}"]`];
  for (const component of componentsOf(parts)) {
    const members = parts.filter(([, part]) => part.component?.name === component?.name);
    const nodes = members.map(([index, part]) => `p${index}["${part.name}"]`);
    lines.push(
      ...(component === undefined
        ? nodes.map((node) => `    ${node}`)
        : [
            `    subgraph ${component.name}["${component.type} ${component.name}"]`,
            ...nodes.map((node) => `      ${node}`),
            "    end",
          ]),
    );
  }
  lines.push("  end");
  for (const [index, direct] of needs) {
    lines.push(...essential(direct, needs).map((needed) => `  p${needed} --> p${index}`));
  }
  return lines.join("\n");
}

function needsOf(part: Part): number[] {
  const references = referencesIn(part.inputs).map(({ index }) => index);
  return [...new Set([...references, ...(part.after ?? [])])].sort((left, right) => left - right);
}

function componentsOf(parts: readonly [number, Part][]): (ComponentReference | undefined)[] {
  const named = new Map(
    parts.flatMap(([, { component }]) => (component ? [[component.name, component] as const] : [])),
  );
  return [undefined, ...named.values()];
}

/** Those needs that no other need has already. */
function essential(direct: readonly number[], needs: ReadonlyMap<number, readonly number[]>): number[] {
  const reachable = (from: number): number[] => (needs.get(from) ?? []).flatMap((next) => [next, ...reachable(next)]);
  const implied = new Set(direct.flatMap(reachable));
  return direct.filter((index) => !implied.has(index));
}
