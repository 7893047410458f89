/**
 * The README says what is so: its picture is drawn from the real model, and its commands exist.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { drawModel } from "../../cloud/drawing";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { localProvider } from "../../providers/local";

const root = resolve(__dirname, "../..");
const readme = readFileSync(resolve(root, "README.md"), "utf8");

test("the picture of the component tree is the one that the default program has", () => {
  const spec = parseClusterSpec({ name: "local", pools: [{ name: "workers", count: 2 }] });
  const model = localProvider.model(localProvider.render(spec, { project: "pulumi-kubicorn", stack: "local" }));
  const drawn = drawModel(model, "Cluster");
  expect(readme.match(/```mermaid\n([\s\S]*?)\n```/)?.[1]).toBe(drawn);
});

test("every npm script that the documents name is there", () => {
  const { scripts } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as { scripts: object };
  const named = [...readme.matchAll(/npm run (?:-s )?([a-z0-9:]+)/g)].map((match) => match[1] ?? "");
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
