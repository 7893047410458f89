/** The command makes and uses stacks on the real CLI: what it writes, what it asks for, what it passes on. */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CommandProject } from "./command-project";

let project: CommandProject;

beforeEach(() => {
  project = new CommandProject();
});

afterEach(() => project.remove());

test("the first up makes the stack and a passphrase once; later ones run one Pulumi process; no tracked file changes", async () => {
  const first = await project.up();
  expect(first.exitCode, first.stderr).toBe(0);
  expect(first.stderr).toContain("Made the stack local.");
  expect(statSync(project.path(".pulumi-state/passphrase")).mode & 0o777).toBe(0o600);
  const passphrase = project.read(".pulumi-state/passphrase");
  expect(passphrase).toMatch(/^[\w-]{32}$/);
  expect(project.read("stacks/Pulumi.local.yaml")).toMatch(/# how many\n {2}tiny:count: "2"\nencryptionsalt:/);

  const before = project.calls().length;
  const second = await project.up();
  expect(second.stdout).toMatch(/3 unchanged/);
  expect(second.stderr).toBe("");
  expect(project.calls().slice(before)).toEqual(["up --stack local --suppress-progress --yes --skip-preview"]);
  expect(project.read(".pulumi-state/passphrase")).toBe(passphrase);

  expect((await project.run(["down", "--yes"])).exitCode).toBe(0);
  expect(project.changes()).toBe("");
});

test("a passphrase of the person's own is taken on the first run too, and none is made", async () => {
  const first = await project.up({ PULUMI_CONFIG_PASSPHRASE: "their own" });
  expect(first.exitCode, first.stderr).toBe(0);
  expect(existsSync(project.path(".pulumi-state/passphrase"))).toBe(false);
  expect(project.state().resources).toBe(4);
});

test("without a terminal and without --yes, one sentence names it and nothing is changed", async () => {
  for (const [verb, script] of [["up"], ["refresh"], ["down"], ["up", "--non-interactive"]]) {
    const { exitCode, stdout, stderr } = await project.run([verb ?? "", ...(script ? [script] : [])]);
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^There is no terminal .*add --yes, as in "npm run \w+ -- --yes"\. Nothing was changed\.$/);
  }
  expect(project.calls()).toEqual([]);
  expect(readdirSync(project.folder).sort()).toEqual(
    [".git", ".gitignore", "Pulumi.local.yaml", "Pulumi.yaml", "index.js", "node_modules", "package.json"].sort(),
  );
});

test("arguments are passed through, and so is the exit code", async () => {
  const broken = await project.run(["up", "--yes", "--skip-preview", "-s", "other", "--suppress-outputs"], {
    BROKEN: "1",
  });
  expect(broken.exitCode).not.toBe(0);
  expect(broken.stdout + broken.stderr).toContain("the program is broken");
  expect(project.calls().at(-1)).toBe("up --stack other --suppress-progress --yes --skip-preview --suppress-outputs");
  const wrong = await project.run(["preview", "--no-such-flag"]);
  expect(wrong.exitCode).not.toBe(0);
  expect(wrong.stderr).toContain("--no-such-flag");
});

test("a lost passphrase is told with the way out, and nothing is changed", async () => {
  await project.up();
  rmSync(project.path(".pulumi-state/passphrase"));
  const calls = project.calls();
  const { exitCode, stderr } = await project.run(["up", "--yes"]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/passphrase file .* is gone/);
  expect(stderr).toMatch(/bring the file back.*PULUMI_CONFIG_PASSPHRASE.*begin anew/s);
  expect(project.calls()).toEqual(calls);
  expect(existsSync(project.path(".pulumi-state/passphrase"))).toBe(false);
});

test("a lost stack file is made again from the profile", async () => {
  await project.up();
  rmSync(project.path("stacks"), { recursive: true });
  const again = await project.up();
  expect(again.stdout, again.stderr).toMatch(/3 unchanged/);
  expect(project.read("stacks/Pulumi.local.yaml")).toMatch(/tiny:count: "2"/);
});

test("a changed profile reaches the stack, except where the person has set the key themselves", async () => {
  await project.up();
  const { stdout: exports } = await project.run(["env"]);
  const shell = (line: string) =>
    execa("sh", ["-c", `${exports}\n${line}`], { cwd: project.folder, env: project.environment, reject: false });
  expect((await shell("pulumi config set tiny:count 5 -s local")).exitCode).toBe(0);
  project.write("Pulumi.local.yaml", "config:\n  tiny:count: 3\n  tiny:size: 2\n");
  const { stderr } = await project.run(["preview"]);
  expect(stderr).toMatch(/Carried the changes of Pulumi.local.yaml over to .*Kept there.*: tiny:count\./);
  expect(project.read("stacks/Pulumi.local.yaml")).toMatch(/tiny:count: "?5"?\n {2}tiny:size: 2/);
  expect((await project.run(["preview"])).stderr).toBe("");

  // What the person has not touched follows, though Pulumi has written it anew.
  expect((await shell("pulumi config set tiny:other x -s local")).exitCode).toBe(0);
  project.write("Pulumi.local.yaml", "config:\n  tiny:count: 3\n  tiny:size: 4\n");
  expect((await project.run(["preview"])).stderr).toMatch(/^Carried the changes of \S+ over to [^:]*\.yaml\.$/);
  expect(project.read("stacks/Pulumi.local.yaml")).toMatch(/tiny:count: "5"\n {2}tiny:size: 4\n/);
});

test("env prints exports only, and with them plain pulumi does the same", async () => {
  const { stdout, stderr } = await project.run(["env"]);
  expect(stderr).toBe("Made the stack local.");
  expect(stdout.split("\n").every((line) => line.startsWith("export "))).toBe(true);
  expect(stdout).toContain("export PULUMI_PARALLEL='32'");
  const plain = await execa("sh", ["-c", `${stdout}\npulumi up -s local --yes --non-interactive`], {
    cwd: project.folder,
    env: project.environment,
    reject: false,
  });
  expect(plain.exitCode, plain.stderr).toBe(0);
  const up = await project.up();
  expect(up.stdout).toMatch(/3 unchanged/);
  // Also from a shell that has the exports.
  const again = await execa("sh", ["-c", `${stdout}\nnode "$0" preview`, require.resolve("../../entry/command.cjs")], {
    cwd: project.folder,
    env: project.environment,
    stdin: "ignore",
  });
  expect(again.stdout).toMatch(/3 unchanged/);
});

test("the person's own backend, login and passphrase are used", async () => {
  const backend = `file://${project.path("../elsewhere").replaceAll(" ", "%20")}`;
  project.write("../elsewhere/.keep", "");
  const own = { PULUMI_BACKEND_URL: backend, PULUMI_CONFIG_PASSPHRASE: "mine" };
  const { exitCode, stderr } = await project.up(own);
  expect(exitCode, stderr).toBe(0);
  expect(existsSync(project.path(".pulumi-state"))).toBe(false);
  expect(existsSync(project.path("../elsewhere/.pulumi/stacks/tiny/local.json"))).toBe(true);
  project.write("../home/credentials.json", JSON.stringify({ current: backend }));
  const loggedIn = await project.up({ PULUMI_CONFIG_PASSPHRASE: "mine" });
  expect(loggedIn.stdout, loggedIn.stderr).toMatch(/3 unchanged/);
});

test("verbs that need a stack say when there is none", async () => {
  const down = await project.run(["down", "--yes"]);
  expect(down).toMatchObject({ exitCode: 0, stderr: 'There is no stack "local", so there is nothing to remove.' });
  const kubeconfig = await project.run(["kubeconfig"]);
  expect(kubeconfig).toMatchObject({ exitCode: 1, stdout: "" });
  expect(kubeconfig.stderr).toMatch(/has no kubeconfig yet: "npm run up" makes the cluster/);
  expect((await project.run(["up", "--yes", "-s", "not a name"])).stderr).toMatch(/cannot be a stack's name/);
});

test("a lock that a live run holds is told with its holder", async () => {
  await project.up();
  const lock = { pid: process.pid, username: "ada", hostname: hostname(), timestamp: new Date().toISOString() };
  project.write(".pulumi-state/.pulumi/locks/organization/tiny/local/a.json", JSON.stringify(lock));
  const { exitCode, stderr } = await project.run(["up", "--yes"]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/The stack local is in use: ada .*process \d+ on/);
  expect((await project.run(["preview"])).exitCode).toBe(0);
});

test("a first run that is refused leaves no stack; a bad stack name and a bad profile are refused before Pulumi runs", async () => {
  const program = project.read("index.js");
  project.write("index.js", 'throw new Error("cloud: one of local, aws");\n');
  const refused = await project.up();
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toContain("Nothing was made, and the stack local is none again.");
  expect(existsSync(project.path(".pulumi-state/.pulumi/stacks/tiny/local.json"))).toBe(false);
  project.write("index.js", program);

  const calls = project.calls().length;
  const name = await project.run(["up", "--yes", "--stack", "../x"]);
  expect(name.stderr).toMatch(/^"\.\.\/x" cannot be a stack's name: .* Nothing was changed\.$/);
  project.write("Pulumi.other.yaml", "config:\n  tiny:count: [1\n");
  const profile = await project.run(["up", "--yes", "--stack", "other"]);
  expect(profile.stderr).toMatch(
    /^\S.*Pulumi\.other\.yaml cannot be read: .* at line \d+, column \d+\. Nothing was changed\.$/,
  );
  expect(project.calls().length).toBe(calls);

  const next = await project.up();
  expect(next.exitCode, next.stderr).toBe(0);
});
