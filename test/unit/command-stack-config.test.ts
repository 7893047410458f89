/** The configuration that the next run will have, told without writing anything. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asTexts, nextConfig, withDefaults } from "../../bin/stack-config";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubicorn-config-"));
  write("Pulumi.yaml", "name: p\nconfig:\n  cloud:\n    default: local\n  count:\n    default: 1\n");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const config = () => {
  const project = { name: "p", folder, stackFiles: join(folder, "stacks") };
  return nextConfig({ name: "organization/p/dev", project, backend: { url: "", own: false } });
};

test("is what the project declares, where the stack says nothing", async () => {
  expect(await config()).toEqual({ "p:cloud": "local", "p:count": 1 });
});

test("is the profile's where the stack has no file of its own yet, and makes none", async () => {
  write("Pulumi.dev.yaml", "config:\n  p:count: 2\n");
  expect(await config()).toEqual({ "p:cloud": "local", "p:count": 2 });
  expect(readdirSync(folder).sort()).toEqual(["Pulumi.dev.yaml", "Pulumi.yaml"]);
});

test("has the profile's change that no run has carried over yet, except where the person has set the key", async () => {
  write("Pulumi.dev.yaml", "config:\n  p:count: 3\n  p:own: new\n");
  write("stacks/.applied/dev.yaml", "config:\n  p:count: 2\n  p:own: old\n");
  write("stacks/Pulumi.dev.yaml", 'encryptionsalt: v1\nconfig:\n  p:count: "2"\n  p:own: theirs\n');
  expect(await config()).toEqual({ "p:cloud": "local", "p:count": 3, "p:own": "theirs" });
});

test("is refused where a file cannot be read", async () => {
  write("stacks/Pulumi.dev.yaml", "config: [\n");
  await expect(config()).rejects.toThrow(/Pulumi\.dev\.yaml cannot be read/);
});

test("reads every way to declare a value", () => {
  const declared = {
    a: { default: 1 },
    b: { value: 2, default: 3 },
    "p:c": "text",
    d: { type: "string" },
    "aws:region": "r",
  };
  expect(withDefaults(declared, "p")).toEqual({ "p:a": 1, "p:b": 2, "p:c": "text", "aws:region": "r" });
});

test("hands values over as the engine does", () => {
  expect(asTexts({ a: "b", c: 2, d: true, e: [{ f: "g" }] })).toEqual({ a: "b", c: "2", d: "true", e: '[{"f":"g"}]' });
});
