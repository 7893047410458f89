/** What completes a command line, by what the verbs declare. */
import { describe, expect, it } from "vitest";
import { joined } from "../../bin/completion";
import { complete } from "../../bin/completion-words";
import { outputOption, ownVerb, type Verb } from "../../bin/verb";
import { verbs } from "../../bin/verbs";

const known: Readonly<Record<string, Verb>> = {
  up: { summary: "make it", help: "", equals: "", run: async () => 0 },
  image: ownVerb({
    summary: "images",
    help: "",
    equals: "",
    options: {
      ...outputOption,
      file: { value: "FILE", kind: "file", says: "where" },
      set: { value: "KEY=VALUE", repeated: true, says: "a setting" },
    },
    operands: { name: "ACTION", least: 1, most: 1, allowed: ["build", "list"], says: "what" },
    run: async () => 0,
  }),
};
const words = (...line: string[]) => complete(line, known).candidates.map(({ word }) => word);

describe("complete", () => {
  it.each([
    [[""], ["up", "image", "--help"]],
    [["i"], ["image"]],
    [
      ["up", ""],
      ["--yes", "--stack", "--cwd", "--help"],
    ],
    [
      ["image", ""],
      ["build", "list"],
    ],
    [["image", "l"], ["list"]],
    [
      ["image", "list", ""],
      ["--output", "--file", "--set", "--stack", "--cwd", "--help"],
    ],
    [["image", "list", "b"], []],
    [["image", "--o"], ["--output"]],
    [
      ["image", "-o", ""],
      ["table", "json", "yaml"],
    ],
    [["image", "--output=j"], ["json"]],
    [
      ["image", "-o", "json", ""],
      ["build", "list"],
    ],
    [["image", "--output=json", "--o"], []],
    [
      ["image", "--set", "a=1", "--s"],
      ["--set", "--stack"],
    ],
    [
      ["image", "--set", "--output", ""],
      ["build", "list"],
    ],
    [["image", "--set", ""], []],
    [
      ["image", "--help=", ""],
      ["build", "list"],
    ],
    [["nosuch", ""], []],
    [["constructor", ""], []],
  ])("%j", (line, expected) => {
    expect(words(...line)).toEqual(expected);
  });

  it("says where the shell, or the project, knows what may stand there", () => {
    expect(complete(["image", "--file", "a"], known)).toMatchObject({ kind: "file", begun: "a" });
    expect(complete(["image", "--file=a/"], known)).toMatchObject({ kind: "file", begun: "a/" });
    expect(complete(["up", "-C", ""], known)).toMatchObject({ kind: "folder" });
    expect(complete(["up", "--cwd", "/x", "-s", "de"], known)).toMatchObject({
      kind: "stack",
      begun: "de",
      folder: "/x",
    });
    expect(complete(["up", "-C/y", "-s", ""], known).folder).toBe("/y");
  });

  it("knows every option of every verb, and what each word is for", () => {
    for (const [name, verb] of Object.entries(verbs)) {
      const offered = complete([name, "--"], verbs).candidates;
      expect(offered.map(({ word }) => word)).toEqual(
        expect.arrayContaining(Object.keys(verb.options ?? {}).map((long) => `--${long}`)),
      );
      expect(offered.every(({ says = "" }) => says !== "" && !/[\t\n]/.test(says))).toBe(true);
    }
  });
});

it("puts together what bash takes apart at equals signs", () => {
  expect(joined(["image", "--output", "=", "js"])).toEqual(["image", "--output=js"]);
  expect(joined(["image", "--output", "=", ""])).toEqual(["image", "--output="]);
  expect(joined(["image", "--output", "="])).toEqual(["image", "--output="]);
  expect(joined(["image", "--set", "a", "=", "b"])).toEqual(["image", "--set", "a", "=", "b"]);
});
