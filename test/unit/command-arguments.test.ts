/** The command's own arguments, and what it passes on. */
import { describe, expect, it } from "vitest";
import { parseArguments } from "../../bin/arguments";
import { shellQuoted } from "../../bin/env";
import { destinationOf } from "../../bin/kubeconfig";

describe("parseArguments", () => {
  it.each([
    [["-s", "dev", "--yes"], { stack: "dev", yes: true, rest: ["--yes"] }],
    [["--stack=dev"], { stack: "dev", rest: [] }],
    [["--stack", "organization/project/dev"], { stack: "organization/project/dev" }],
    [["-sdev", "-y"], { stack: "dev", yes: true }],
    [["-s=dev"], { stack: "dev" }],
    [["-C", "/a b", "--diff"], { cwd: "/a b", stack: "local", rest: ["--diff"] }],
    [["--", "--yes"], { yes: true, rest: ["--yes"] }],
    [["--skip-preview", "--suppress-outputs"], { rest: ["--skip-preview", "--suppress-outputs"], yes: false }],
    [["--target", "urn:a b", "-y=true"], { rest: ["--target", "urn:a b", "-y=true"], yes: true }],
    [["--yes=false"], { yes: false }],
    [["--help"], { help: true, rest: [] }],
    [["--stack-trace"], { stack: "local", rest: ["--stack-trace"] }],
  ])("%j", (given, expected) => {
    expect(parseArguments(given, {})).toMatchObject(expected);
  });

  it("takes the stack and the yes of the environment, which an argument overrides", () => {
    const environment = { PULUMI_STACK: "prod", PULUMI_SKIP_CONFIRMATIONS: "true" };
    expect(parseArguments([], environment)).toMatchObject({ stack: "prod", yes: true });
    expect(parseArguments(["-s", "dev"], environment)).toMatchObject({ stack: "dev" });
  });

  it.each([[["--stack"]], [["-s"]], [["-s", "--yes"]], [["--cwd"]]])("says what %j lacks", (given) => {
    expect(() => parseArguments(given, {})).toThrow(/needs a (stack's name|folder) after it/);
  });
});

describe("destinationOf", () => {
  const none = { output: undefined, merge: false, switch: false };

  it.each([
    [{}, { switch: false }],
    [{ output: "/a/b" }, { file: "/a/b", switch: false }],
    [
      { output: "/a b", switch: true },
      { file: "/a b", switch: true },
    ],
    [{ merge: true }, { file: "/first", switch: false }],
  ])("%j", (given, expected) => {
    expect(destinationOf({ ...none, ...given }, { KUBECONFIG: ":/first:/second" })).toEqual(expected);
  });

  it.each([
    [{ switch: true }, /goes with --output FILE or --merge/],
    [{ output: "/a", merge: true }, /name two files/],
  ])("refuses %j", (given, message) => {
    expect(() => destinationOf({ ...none, ...given })).toThrow(message);
  });
});

describe("shellQuoted", () => {
  it.each([
    ["plain", "'plain'"],
    ["a b$c`d", "'a b$c`d'"],
    ["it's", "'it'\\''s'"],
  ])("%s", (text, quoted) => {
    expect(shellQuoted(text)).toBe(quoted);
  });
});
