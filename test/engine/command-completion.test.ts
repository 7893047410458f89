/** Completion and versions in the real shells: what a person gets who presses the tab key. */
import { chmodSync, readdirSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { execa, execaSync } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shellQuoted } from "../../bin/env";
import { verbs } from "../../bin/verbs";
import { CommandProject } from "./command-project";

let project: CommandProject;

beforeAll(() => {
  project = new CommandProject();
  const entry = resolve(__dirname, "../../entry/command.cjs");
  project.write(
    "../commands/kubicorn",
    `#!/bin/sh\nexec ${shellQuoted(process.execPath)} ${shellQuoted(entry)} "$@"\n`,
  );
  chmodSync(project.path("../commands/kubicorn"), 0o755);
  project.write("stacks/Pulumi.dev.yaml", "config: {}\n");
  project.write("a file.txt", "");
  project.write("folder/b", "");
});

afterAll(() => project.remove());

const run = (program: string, args: readonly string[], extra: Record<string, string> = {}) =>
  execa(program, args, {
    cwd: project.folder,
    env: {
      ...project.environment,
      PATH: `${project.path("../commands")}${delimiter}${process.env.PATH}`,
      ...extra,
    },
    reject: false,
    stdin: "ignore",
  });

/** Asks the function that bash calls, with the words as bash takes the line apart. */
async function inBash(line: string): Promise<string[]> {
  const script = `
    eval "$(kubicorn completion bash)"
    set -f
    COMP_WORDS=(kubicorn $(sed 's/=/ = /g' <<<"$1")); set +f
    case $1 in "" | *" ") COMP_WORDS+=("") ;; esac
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    $(complete -p kubicorn | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await run("bash", ["--norc", "-c", script, "bash", line]);
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

/** Writes the line in an interactive zsh on a terminal, and asks for all that could stand there. */
async function inZsh(line: string): Promise<string[]> {
  const inner = [
    "PS1=; autoload -Uz compinit; compinit -u -D",
    'eval "$(kubicorn completion zsh)"',
    // What could stand there is written down besides.
    'compadd() { local -a all; builtin compadd -O all "$@"; printf "<%s>" $all; builtin compadd "$@"; }',
    'tell() { _main_complete; printf "<end>"; }',
    "zle -C told complete-word tell; bindkey '^I' told; print ready",
  ].join("\n");
  const outer = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell ${"$1"}
    zpty -r -m shell told '*ready*ready*'
    zpty -w -n shell "$2"$'\\t'
    zpty -r -m shell told '*<end>*'
    print -rn -- "$told"
    zpty -d shell`;
  const { stdout } = await run("zsh", ["-f", "-c", outer, "zsh", inner, `kubicorn ${line}`]);
  // To sort them, zsh adds them several times.
  const words = [...stdout.matchAll(/<([^<>\n]+)>/g)].map((match) => match[1] ?? "");
  return [...new Set(words)].filter((word) => word !== "end");
}

/** Asks fish itself, which has a command for that. */
async function inFish(line: string): Promise<string[]> {
  const script = "kubicorn completion fish | source; complete --do-complete $argv[1]";
  const { stdout } = await run("fish", ["--no-config", "-c", script, `kubicorn ${line}`]);
  return stdout.split("\n").flatMap((told) => told.split("\t")[0] || []);
}

const shells = { bash: inBash, zsh: inZsh, fish: inFish };

for (const [shell, ask] of Object.entries(shells)) {
  const isHere = execaSync(shell, ["-c", "true"], { reject: false }).exitCode === 0;
  if (!isHere) {
    process.stderr.write(`Completion in ${shell} is not tested: ${shell} is not installed on this computer.\n`);
  }
  describe.skipIf(!isHere)(`completion in ${shell}`, () => {
    test("of verbs", async () => {
      expect(await ask("")).toEqual(expect.arrayContaining(Object.keys(verbs)));
      expect(await ask("kubec")).toEqual(["kubeconfig"]);
    });

    test("of options and the values that are allowed", async () => {
      expect(await ask("version --")).toEqual(expect.arrayContaining(["--output", "--stack", "--cwd", "--help"]));
      expect(await ask("version -o ")).toEqual(expect.arrayContaining(["table", "json", "yaml"]));
      expect((await ask("version --output=j")).map((word) => word.replace("--output=", ""))).toEqual(["json"]);
      expect(await ask("completion f")).toEqual(["fish"]);
    });

    test("of the project's stacks", async () => {
      expect((await ask("up --stack ")).sort()).toEqual(["dev", "local"]);
      expect(await ask("up -s d")).toEqual(["dev"]);
    });

    test("of files and folders", async () => {
      expect((await ask("kubeconfig --output fold")).map((path) => path.replace(/\/$/, ""))).toEqual(["folder"]);
      const files = await ask("kubeconfig --output ");
      expect(files.map((path) => path.replaceAll("\\", ""))).toContain("a file.txt");
      const folders = await ask("up --cwd ");
      expect(folders.map((path) => path.replace(/\/$/, ""))).toEqual(expect.arrayContaining(["folder", "stacks"]));
      expect(folders.join(" ")).not.toContain("file");
    });

    test("of what nobody knows is nothing", async () => {
      expect(await ask("nosuch ")).toEqual([]);
    });
  });
}

describe("version", () => {
  test("tells all, as a table, as JSON and as YAML", async () => {
    const table = await project.run(["version"]);
    expect(table.exitCode, table.stderr).toBe(0);
    expect(table.stdout).toMatch(/^WHAT .*\npulumi-kubicorn +\d+\.\d+\.\d+\nKubernetes +\d+\.\d+\.\d+/);
    const { stdout } = await project.run(["version", "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      kubernetes: [expect.stringMatching(/^\d+\.\d+\.\d+$/)],
      pulumi: { version: expect.stringMatching(/^\d+\.\d+\.\d+/), folder: project.path("../bin") },
      node: process.versions.node,
    });
    expect((await project.run(["version", "-o", "yaml"])).stdout).toMatch(/^node: /m);
  });

  test("sets nothing up and succeeds where nothing is there, outside of any project", async () => {
    const { exitCode, stdout, stderr } = await run(
      process.execPath,
      [resolve(__dirname, "../../entry/command.cjs"), ...["version", "-o", "json", "--cwd", "/"]],
      { PATH: "/nonexistent" },
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      pulumi: { problem: "the first run that needs it sets it up" },
      engine: { problem: expect.stringContaining("no container engine answers") },
    });
    expect(readdirSync(project.root)).not.toContain("cache");
  });
});
