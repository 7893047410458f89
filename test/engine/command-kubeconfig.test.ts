/** `kubeconfig` on a real stack: what goes to standard output, and how a file is written. */
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { CommandProject } from "./command-project";

const named = (name: string) => `apiVersion: v1
kind: Config
clusters:
  - {name: ${name}, cluster: {server: "https://127.0.0.1:20001"}}
users:
  - {name: ${name}, user: {token: secret}}
contexts:
  - {name: ${name}, context: {cluster: ${name}, user: ${name}}}
current-context: ${name}
`;

let project: CommandProject;

beforeAll(async () => {
  project = new CommandProject();
  const { exitCode, stderr } = await project.up({ KUBECONFIG_TEXT: named("local") });
  expect(exitCode, stderr).toBe(0);
});

afterAll(() => project.remove());

test("it is printed, and nothing else is", async () => {
  const { exitCode, stdout, stderr } = await project.run(["kubeconfig"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(`${stdout}\n`).toBe(named("local"));
});

test("a new file is only the person's to read", async () => {
  const file = project.path("../new folder/config");
  const { stdout, stderr } = await project.run(["kubeconfig", "--output", file]);
  expect({ stdout, stderr }).toEqual({ stdout: "", stderr: `Wrote the kubeconfig to ${file}.` });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8").trim()).toBe(named("local").trim());
});

test("a file with other clusters keeps them, its link and its context", async () => {
  project.write("../real-config", named("work"));
  const link = project.path("../config");
  symlinkSync(project.path("../real-config"), link);
  const merged = async (...more: string[]) => {
    const { exitCode, stderr } = await project.run(["kubeconfig", "--merge", ...more], { KUBECONFIG: link });
    expect(exitCode, stderr).toBe(0);
    return parse(readFileSync(link, "utf8"));
  };
  const kept = await merged();
  expect(kept.clusters.map((entry: { name: string }) => entry.name)).toEqual(["work", "local"]);
  expect(kept["current-context"]).toBe("work");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect((await merged("--switch"))["current-context"]).toBe("local");
});

test("what is no kubeconfig is not touched", async () => {
  project.write("../notes", "just notes\n");
  const { exitCode, stderr } = await project.run(["kubeconfig", "--output", project.path("../notes")]);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/cannot be merged into/);
  expect(project.read("../notes")).toBe("just notes\n");
  expect(existsSync(project.path("../notes.new"))).toBe(false);
});

test("down says once which files still have entries of the cluster, and changes none", async () => {
  const file = project.path("../config");
  const before = readFileSync(file, "utf8");
  const down = await project.run(["down", "--yes", "--skip-preview"]);
  expect(down.exitCode, down.stderr).toBe(0);
  expect(down.stderr).toContain(`${file} still has the entries of local, which lead nowhere now. To take them out: `);
  expect(down.stderr).toContain("config delete-context local; ");
  expect(readFileSync(file, "utf8")).toBe(before);
  expect((await project.run(["down", "--yes", "--skip-preview"])).stderr).not.toContain("entries");
});
