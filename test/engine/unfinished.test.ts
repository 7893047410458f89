/** What a killed run had begun to make, on the real engine: the next run finishes it or removes it, whatever it is. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PulumiRunner } from "../../bin/pulumi";
import type { Stack } from "../../bin/stack";
import { takeUpUnfinished } from "../../bin/unfinished";
import { Project } from "./project";

let project: Project;

beforeEach(async () => {
  project = await new Project("memory").init();
});

afterEach(() => project.remove());

const thing = (name: string, inputs: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  name,
  inputs: { name, ...inputs },
  ...more,
});
const things = () => readdirSync(project.world).filter((file) => file.endsWith(".json"));
const ids = () => Object.fromEntries(project.state().map(({ urn, id }) => [urn.split("::").pop(), id]));

/** Kills Pulumi while the thing of that name, which is slow, is being made; its provider ends by itself. */
async function killWhileMaking(name: string): Promise<void> {
  const run = project.start(["up", "--yes", "--skip-preview", "-s", "dev"]);
  await vi.waitFor(() => expect(existsSync(join(project.world, `${name}.json`))).toBe(true), { timeout: 60_000 });
  run.kill("SIGKILL");
  await run;
  await project.run(["cancel", "--yes", "--stack", "dev"]);
  expect(project.pendingOperations().length).toBeGreaterThan(0);
}

/** What the command does before each run; gives what it says. */
async function takeUp(): Promise<string> {
  const folder = join(project.folder, "backend");
  const stack: Stack = {
    name: "dev",
    project: { name: "project", folder: project.folder, stackFiles: project.folder },
    backend: { url: `file://${folder}`, own: true, folder },
  };
  const ask: PulumiRunner["ask"] = async (args, input = "") => {
    const { exitCode, stdout, stderr } = await project.start(args, {}, input);
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };
  const said: string[] = [];
  await takeUpUnfinished(
    stack,
    { ask, run: () => Promise.reject(new Error("not here")) },
    {
      what: "goes on with it",
      say: (line) => said.push(line),
    },
  );
  return said.join("\n");
}

test("up finishes it without a word of Pulumi's, makes nothing twice, and a secret stays one", async () => {
  project.model({ 0: thing("a"), 1: thing("b", { slow: 60_000, password: { $secret: "swordfish" } }, { after: [0] }) });
  await killWhileMaking("b");
  const before = ids();
  expect(await takeUp()).toBe("An interrupted run was making t-b: this one goes on with it.");
  expect(project.pendingOperations()).toEqual([]);
  expect(project.stateText()).not.toContain("swordfish");
  project.model({ 0: thing("a"), 1: thing("b", { password: { $secret: "swordfish" } }, { after: [0] }) });
  const { exitCode, output } = await project.up();
  expect(exitCode, output).toBe(0);
  expect(output).not.toMatch(/pending|warning/);
  expect(project.log().filter((line) => line.startsWith("delete"))).toEqual([]);
  expect(ids()["t-a"]).toBe(before["t-a"]);
  expect(ids()["t-b"]).toMatch(/^b-/);
  expect((await project.preview()).output).toMatch(/4 unchanged/);
  expect(project.stateText()).not.toContain("swordfish");
  await project.destroy();
  expect(things()).toEqual([]);
});

test("destroy removes it", async () => {
  project.model({ 0: thing("a", { slow: 60_000 }) });
  await killWhileMaking("a");
  await takeUp();
  const { exitCode, output } = await project.destroy();
  expect(exitCode, output).toBe(0);
  expect(things()).toEqual([]);
});

test("up removes it where the program has it no more; refresh before that forgets nothing", async () => {
  project.model({ 0: thing("a"), 1: thing("b", { slow: 60_000 }) });
  await killWhileMaking("b");
  await takeUp();
  project.model({ 0: thing("a") });
  expect(await project.refresh()).toMatchObject({ exitCode: 0 });
  const { exitCode, output } = await project.up();
  expect(exitCode, output).toBe(0);
  expect(things()).toEqual(["a.json"]);
});

test.each([
  ["up goes on with it, and only the former thing goes", "new", ["new.json"]],
  ["up goes back to the former thing, and it goes", "old", ["old.json"]],
])("a replacement that was begun: %s", async (_what, alias, left) => {
  project.model({ 0: thing("a", { alias: "old" }) });
  await project.up();
  project.model({ 0: thing("a", { alias: "new", slow: 60_000 }) });
  await killWhileMaking("new");
  await takeUp();
  project.model({ 0: thing("a", { alias }) });
  const { exitCode, output } = await project.up();
  expect(exitCode, output).toBe(0);
  expect(things()).toEqual(left);
  expect((await project.preview()).output).toMatch(/3 unchanged/);
});

test("a replacement that was begun: destroy removes both", async () => {
  project.model({ 0: thing("a", { alias: "old" }) });
  await project.up();
  project.model({ 0: thing("a", { alias: "new", slow: 60_000 }) });
  await killWhileMaking("new");
  await takeUp();
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
  expect(things()).toEqual([]);
});

test("a change that was interrupted is made by the next run, also without a word of Pulumi's", async () => {
  project.model({ 0: thing("a", { value: 1 }) });
  await project.up();
  project.model({ 0: thing("a", { value: 2, slow: 60_000 }) });
  const run = project.start(["up", "--yes", "--skip-preview", "-s", "dev"]);
  await vi.waitFor(() => expect(project.log()).toContain("apply a update"), { timeout: 60_000 });
  run.kill("SIGKILL");
  await run;
  await project.run(["cancel", "--yes", "--stack", "dev"]);
  expect(await takeUp()).toBe("");
  expect(project.pendingOperations()).toEqual([]);
  project.model({ 0: thing("a", { value: 2 }) });
  const { output } = await project.up();
  expect(output).toMatch(/1 updated/);
  expect(output).not.toMatch(/pending|warning/);
});
