/**
 * Pulumi.yaml describes the configuration to the CLI; the schema is what checks it. They must not drift apart.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { clusterSpecSchema } from "../../cloud/spec";
import { parseClusterSpec } from "../../cloud/spec-parse";

const root = resolve(__dirname, "../..");
const project = parse(readFileSync(resolve(root, "Pulumi.yaml"), "utf8")) as {
  main: string;
  config: Record<string, { default: unknown }>;
};
const defaults = Object.fromEntries(Object.entries(project.config).map(([key, { default: value }]) => [key, value]));

test("every setting but the name, which is the stack's, stands in Pulumi.yaml", () => {
  expect(Object.keys(defaults).sort()).toEqual(
    Object.keys(clusterSpecSchema.shape)
      .filter((key) => key !== "name")
      .sort(),
  );
});

test("the defaults of Pulumi.yaml are those of the schema, with two workers", () => {
  expect(parseClusterSpec({ name: "dev", ...defaults })).toEqual(
    parseClusterSpec({ name: "dev", pools: [{ name: "workers", count: 2 }] }),
  );
});

test("the program is index.ts, since Pulumi would run the library that package.json names", () => {
  expect(project.main).toBe("index.ts");
});
