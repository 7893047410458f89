/**
 * Guests are reached by user data and SSH only: nothing that runs on a booted machine goes through the container engine.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(__dirname, "../..");
const sources = ["bootstrap", "cloud", "components", "providers"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file)),
);

/** The places where the engine is given that verb. */
function callsOf(verb: string): string[] {
  const word = new RegExp(`\\[\\s*(\\.\\.\\.\\w+(\\.\\w+)*,\\s*)?"${verb}"`, "g");
  return sources.flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(word)].map(() => file));
}

test("no source runs a command in a container", () => {
  expect(sources.length).toBeGreaterThan(40);
  expect(callsOf("exec")).toEqual([]);
});

test("files are put into a container in one place, which starts it afterwards", () => {
  expect(callsOf("cp")).toEqual(["providers/local/boot.ts"]);
  const boot = readFileSync(join(root, "providers/local/boot.ts"), "utf8");
  expect(boot.indexOf('"cp"')).toBeLessThan(boot.indexOf('"start"'));
});
