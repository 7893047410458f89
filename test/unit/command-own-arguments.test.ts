/** The arguments of verbs that hand nothing on to Pulumi, and the help made from what a verb declares. */
import { describe, expect, it } from "vitest";
import { commandHelp, verbHelp } from "../../bin/help";
import { parseOwnArguments } from "../../bin/own-arguments";
import { columns, table } from "../../bin/table";
import { UsageError } from "../../bin/usage-error";
import { outputOption, ownVerb, yesOption } from "../../bin/verb";
import { verbs } from "../../bin/verbs";

const verb = ownVerb({
  summary: "",
  help: "",
  equals: "",
  options: {
    ...outputOption,
    ...yesOption,
    merge: { says: "merge" },
    set: { value: "KEY=VALUE", repeated: true, says: "a setting" },
  },
  operands: { name: "ACTION", least: 0, most: 1, allowed: ["build", "list"], says: "what" },
  run: async () => 0,
});
const parse = (given: readonly string[], environment = {}) => parseOwnArguments("try", verb, given, environment);

describe("parseOwnArguments", () => {
  it.each([
    [[], { stack: "local", yes: false, help: false, operands: [], options: { merge: false, set: [] } }],
    [["--", "-o", "json"], { options: { output: "json" } }],
    [["--output=json", "--output", "yaml"], { options: { output: "yaml" } }],
    [["-ojson", "-sdev"], { stack: "dev", options: { output: "json" } }],
    [["-s=dev", "-C=/a b"], { stack: "dev", cwd: "/a b" }],
    [["-y", "build", "--merge"], { yes: true, operands: ["build"], options: { merge: true, yes: true } }],
    [["--merge=false", "--yes=true"], { yes: true, options: { merge: false } }],
    [["--set", "a=1", "--set=b=-2"], { options: { set: ["a=1", "b=-2"] } }],
    [["--help", "nonsense"], { help: true }],
    [["--", "--", "list"], { operands: ["list"] }],
  ])("%j", (given, expected) => {
    expect(parse(given)).toMatchObject(expected);
  });

  it("takes the stack and the yes of the environment, which an argument overrides", () => {
    const environment = { PULUMI_STACK: "prod", PULUMI_SKIP_CONFIRMATIONS: "true" };
    expect(parse([], environment)).toMatchObject({ stack: "prod", yes: true });
    expect(parse(["-s", "dev"], environment)).toMatchObject({ stack: "dev" });
  });

  it.each([
    [["--outptu", "json"], "try does not know --outptu; did you mean --output? See kubicorn try --help."],
    [
      ["--xyz"],
      "try does not know --xyz: --output, --yes, --merge, --set, --stack, --cwd or --help is allowed. " +
        "See kubicorn try --help.",
    ],
    [["--constructor"], /does not know --constructor/],
    [["-stack", "dev"], "try does not know -stack; did you mean --stack?"],
    [["-z"], /does not know -z/],
    [["-o", "jsn"], '-o cannot be "jsn": table, json or yaml is allowed; did you mean json?'],
    [["--output"], /^--output needs a value after it: FORMAT/],
    [["--output="], /^--output needs a value after it/],
    [["--stack", "--yes"], /^--stack needs a value after it: NAME/],
    [["--merge=maybe"], '--merge takes no value, and "maybe" is given to it.'],
    [["lst"], "try does not know lst: build or list is allowed; did you mean list?"],
    [["build", "list"], 'try does not know what to do with "list". See kubicorn try --help.'],
  ])("refuses %j", (given, message) => {
    expect(() => parse(given)).toThrow(message);
    expect(() => parse(given)).toThrow(UsageError);
  });

  it("says what an operand that must be there is", () => {
    const operands = { name: "SHELL", least: 1, most: 1, allowed: ["bash", "zsh"], says: "which" };
    const message = "try needs SHELL after it: bash or zsh. See kubicorn try --help.";
    expect(() => parseOwnArguments("try", { ...verb, operands }, [], {})).toThrow(message);
  });
});

describe("the help", () => {
  it("of the command has every verb, and no line that does not fit a terminal of 120 columns", () => {
    const names = [...commandHelp().matchAll(/^ {2}([a-z]+) {2,}[a-z]/gm)].map(([, name]) => name);
    expect(names).toEqual(Object.keys(verbs));
    expect(commandHelp()).toMatch(/^Exit codes/m);
  });

  it.each(Object.keys(verbs))(
    "of %s says which plain Pulumi command it equals, and every option of its own",
    (name) => {
      const shown = verbs[name] ?? verb;
      const text = verbHelp(name, shown);
      expect(text).toMatch(/^Plain Pulumi: \S/m);
      for (const option of Object.keys(shown.options ?? {})) {
        expect(text).toContain(`--${option}`);
      }
      for (const line of [...text.split("\n"), ...commandHelp().split("\n")]) {
        expect(line.length, line).toBeLessThanOrEqual(120);
      }
    },
  );
});

describe("a table", () => {
  it("has columns as wide as their widest cell, and no spaces at line ends", () => {
    expect(table(["a", "long"], [["wide cell", "x"], ["y"]])).toBe("A          LONG\nwide cell  x\ny\n");
    expect(columns([])).toEqual([]);
  });
});
