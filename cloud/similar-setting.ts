/**
 * The setting that a misspelt one most likely means, by how few letters apart they are. Pure.
 */
import { distance } from "fastest-levenshtein";
import { clusterSpecJsonSchema, type SchemaNode } from "./spec-reference";

/** At most so much of a name may be wrong, else it is another word. */
const tolerance = 0.4;

/**
 * The known setting of the same place that is most like the given one, if any is like it.
 *
 * @param path where the unknown setting stands, its own name last: `["pools", 1, "lables"]`
 */
export function similarSetting(path: readonly PropertyKey[]): string | undefined {
  // Of a whole key of the stack's configuration, as in kubicorn:pools, the part after the project's name.
  const name = String(path.at(-1)).split(":").at(-1) ?? "";
  const known = Object.keys(nodeAt(path.slice(0, -1))?.properties ?? {});
  const apart = (other: string) => distance(name.toLowerCase(), other.toLowerCase());
  const [nearest] = known.sort((left, right) => apart(left) - apart(right));
  return nearest !== undefined && apart(nearest) <= nearest.length * tolerance ? nearest : undefined;
}

function nodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>(
    (node, key) => (typeof key === "number" ? node?.items : node?.properties?.[String(key)]),
    clusterSpecJsonSchema(),
  );
}
