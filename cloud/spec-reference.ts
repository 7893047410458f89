/**
 * The spec's schema as others read it: JSON Schema for editors, and the reference page. Both are generated, never written.
 */
import { z } from "zod";
import { clusterSpecSchema } from "./spec";

export interface SchemaNode {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** The spec's JSON Schema. */
export function clusterSpecJsonSchema(): SchemaNode {
  return z.toJSONSchema(clusterSpecSchema, { io: "input", unrepresentable: "any" }) as SchemaNode;
}

/** The JSON Schema of a stack's file, whose settings carry the project's name. */
export function stackFileJsonSchema(project: string): object {
  const { properties = {} } = clusterSpecJsonSchema();
  const settings = Object.entries(properties).map(([name, schema]) => [`${project}:${name}`, schema]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { config: { type: "object", properties: Object.fromEntries(settings) } },
  };
}

/** The reference page: a row for every setting, with its path, its values and its default. */
export function settingsReference(): string {
  const rows = rowsOf("", clusterSpecJsonSchema());
  return [
    "# Configuration",
    "",
    "Every setting of a cluster, as it stands in a stack's file under `config:` with the project's name before it",
    "(`pulumi-kubicorn:pools`), or in the arguments of `Cluster`. This page is generated from the schema in `cloud/spec.ts`.",
    "",
    "| setting | what it is | values | default |",
    "|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
    "",
  ].join("\n");
}

function rowsOf(path: string, node: SchemaNode): string[][] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const childPath = path === "" ? name : `${path}.${name}`;
    const inner = child.items?.properties ? rowsOf(`${childPath}[]`, child.items) : rowsOf(childPath, child);
    return [[`\`${childPath}\``, child.description ?? "", valuesOf(child), defaultOf(child)], ...inner];
  });
}

function valuesOf({ type, enum: values, const: only, minimum, maximum }: SchemaNode): string {
  if (values || only !== undefined) {
    return (values ?? [only]).map((value) => `\`${String(value)}\``).join(", ");
  }
  const words: Record<string, string> = {
    integer: "whole number",
    array: "list",
    object: "settings",
    boolean: "`true`, `false`",
  };
  const kind = words[type ?? ""] ?? type ?? "";
  return minimum !== undefined && maximum !== undefined ? `${kind}, ${minimum} to ${maximum}` : kind;
}

function defaultOf({ default: value, type }: SchemaNode): string {
  return value === undefined || type === "object" ? "" : `\`${JSON.stringify(value)}\``;
}
