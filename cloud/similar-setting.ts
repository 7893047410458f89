/**
 * The setting that a misspelt one most likely means, of those that may stand in its place. Pure.
 */
import { similarWord } from "./similar-word";
import { clusterSpecJsonSchema, type SchemaNode } from "./spec-reference";

/**
 * The known setting of the same place that is most like the given one, if any is like it.
 *
 * @param path where the unknown setting stands, its own name last: `["pools", 1, "lables"]`
 */
export function similarSetting(path: readonly PropertyKey[]): string | undefined {
  // Of a whole key of the stack's configuration, as in kubicorn:pools, the part after the project's name.
  const name = String(path.at(-1)).split(":").at(-1) ?? "";
  return similarWord(name, Object.keys(nodeAt(path.slice(0, -1))?.properties ?? {}));
}

function nodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>(
    (node, key) => (typeof key === "number" ? node?.items : node?.properties?.[String(key)]),
    clusterSpecJsonSchema(),
  );
}
