/**
 * The binding of Resources to the real engine: every trap of dynamic providers that was ever measured, one test each.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shimText } from "../../components/dynamic/shim";
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
const stateOf = (name: string) => project.state().find(({ urn }) => urn.endsWith(`::t-${name}`));

test("a second up plans nothing and writes nothing, and destroy leaves nothing", async () => {
  project.model({ 0: thing("a"), 1: thing("b", { value: { $ref: [0, "serial"] } }) });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  const before = project.log();
  const preview = await project.preview();
  expect(preview.output).toMatch(/4 unchanged/);
  expect((await project.up()).output).toMatch(/4 unchanged/);
  expect(project.log()).toEqual(before);
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
  expect(things()).toEqual([]);
  expect(project.state()).toEqual([]);
});

test("state holds the constant shim and no logic, and a newer library is in force for delete", async () => {
  project.model({ 0: thing("a") });
  await project.up();
  const recorded = stateOf("a");
  expect([recorded?.inputs.__provider, recorded?.outputs.__provider]).toEqual([shimText, shimText]);
  const library = join(project.folder, "resources.cjs");
  writeFileSync(library, readFileSync(library, "utf8").replace("`delete ${", "`newer delete ${"));
  await project.up();
  await project.destroy();
  expect(project.log()).toContain("newer delete a");
});

test("what a thing returns is recorded without undefined, and a value that JSON cannot hold loses nothing", async () => {
  project.model({ 0: thing("a", { odd: "undefined" }), 1: thing("b", { odd: "function" }) });
  const { exitCode, output } = await project.up();
  expect(exitCode).toBe(1);
  expect(output).toContain("nested.call cannot be recorded: it is function");
  expect(stateOf("a")?.outputs.nested).toEqual({ list: [1] });
  expect(stateOf("b")?.id).toMatch(/^b-/);
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
  expect(things()).toEqual([]);
});

test("a thing that fails after it was made is recorded with its identity, finished by the next up and removed once", async () => {
  project.model({ 0: thing("a", { fail: "after" }) });
  const failed = await project.up();
  expect(failed.exitCode).toBe(1);
  expect(failed.output).toContain("a was made and does not work");
  expect(failed.output).not.toContain(" at ");
  const id = stateOf("a")?.id;
  project.model({ 0: thing("a") });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  expect(stateOf("a")?.id).toBe(id);
  expect(project.log().filter((line) => line === "apply a create")).toHaveLength(1);
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
});

test("a thing that fails before it was made leaves no record, and what does not need it is made", async () => {
  project.model({ 0: thing("a", { fail: "before" }), 1: thing("b"), 2: thing("c", {}, { after: [0] }) });
  const { exitCode, output } = await project.up();
  expect(exitCode).toBe(1);
  expect(output).toContain("a cannot be made");
  expect(stateOf("a")).toBeUndefined();
  expect(things()).toEqual(["b.json"]);
});

test("bad inputs are told in preview with what is allowed, while unknown ones wait", async () => {
  project.model({ 0: thing("a"), 1: { name: "b", inputs: { name: 7, size: { $ref: [0, "serial"] } } } });
  const { exitCode, output } = await project.preview();
  expect(exitCode).not.toBe(0);
  expect(output).toContain("a name is expected");
  expect(output).not.toContain("a number is expected");
  expect(things()).toEqual([]);
});

test("what is in the way of a new thing is told in preview, and no more once it is there", async () => {
  project.model({ 0: thing("a"), 1: thing("b", { clash: "a rock", value: { $ref: [0, "serial"] } }) });
  const { exitCode, output } = await project.preview();
  expect(exitCode).not.toBe(0);
  expect(output).toContain("a rock is in the way");
  project.model({ 0: thing("a"), 1: thing("b", { clash: "unclear" }) });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  project.model({ 0: thing("a"), 1: thing("b", { clash: "a rock" }) });
  expect(await project.preview()).toMatchObject({ exitCode: 0 });
});

test("a change is an update or a replacement as the plan says, the old thing going first", async () => {
  project.model({ 0: thing("a", { value: 1, size: 1 }) });
  await project.up();
  project.model({ 0: thing("a", { value: 2, size: 1 }) });
  expect((await project.preview()).output).toMatch(/1 to update/);
  await project.up();
  project.model({ 0: thing("a", { value: 2, size: 2 }) });
  expect((await project.preview()).output).toMatch(/1 to replace/);
  await project.up();
  expect(project.log().filter((line) => !line.startsWith("applied"))).toEqual([
    "apply a create",
    "apply a update",
    "delete a",
    "apply a create",
  ]);
});

test("a thing that gets another name is there before the old one goes, and a note says so once, in preview and in up", async () => {
  const note = /memory:Thing \(t-a\):\n.*one gives way to two\./g;
  project.model({ 0: thing("a", { alias: "one" }) });
  expect((await project.up()).output).not.toContain("gives way");
  project.model({ 0: thing("a", { alias: "two" }) });
  const preview = await project.preview();
  expect(preview.output.match(note)).toHaveLength(1);
  expect(preview.output).toMatch(/1 to replace/);
  expect((await project.up()).output.match(note)).toHaveLength(1);
  expect(project.log().filter((line) => !line.startsWith("applied"))).toEqual([
    "apply a create",
    "apply a create",
    "delete a",
  ]);
  expect(things()).toEqual(["two.json"]);
  expect((await project.up()).output).not.toContain("gives way");
});

test("going back half-way through a replacement keeps the old thing, and only the new one goes", async () => {
  project.model({ 0: thing("a", { alias: "one" }) });
  await project.up();
  const { id } = stateOf("a") ?? {};
  project.model({ 0: thing("a", { alias: "two" }), 1: thing("b", { fail: "before" }, { after: [0] }) });
  expect(await project.up()).toMatchObject({ exitCode: 1 });
  expect(things().sort()).toEqual(["one.json", "two.json"]);
  project.model({ 0: thing("a", { alias: "one" }), 1: thing("b", {}, { after: [0] }) });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  expect(things().sort()).toEqual(["b.json", "one.json"]);
  expect(stateOf("a")?.id).toBe(id);
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
  expect(things()).toEqual([]);
});

test("a thing that leaves the program in the same up in which what it stands on is replaced really goes", async () => {
  project.model({ 0: thing("a", { size: 1 }), 1: thing("b", { value: { $ref: [0, "serial"] } }) });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  project.model({ 0: thing("a", { size: 2 }) });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  expect(things()).toEqual(["a.json"]);
  expect(project.log()).toContain("delete b");
});

test("a thing that a person asks Pulumi to replace, and that is found again by its name, is still there afterwards", async () => {
  project.model({ 0: thing("a") });
  await project.up();
  const urn = stateOf("a")?.urn ?? "";
  const { exitCode } = await project.run(["up", "--yes", "--skip-preview", "-s", "dev", "--replace", urn]);
  expect(exitCode).toBe(0);
  expect(things()).toEqual(["a.json"]);
  expect((await project.up()).output).toMatch(/3 unchanged/);
});

test("what cannot change in a thing's life is refused in preview and in up, with what to do, and nothing is done", async () => {
  project.model({ 0: thing("a", { place: "here" }), 1: thing("b", { value: { $ref: [0, "serial"] } }) });
  await project.up();
  const before = [project.log(), project.state().length];
  project.model({ 0: thing("a", { place: "there" }), 1: thing("b", { value: { $ref: [0, "serial"] }, size: 1 }) });
  for (const { exitCode, output } of [await project.preview(), await project.up()]) {
    expect(exitCode).not.toBe(0);
    expect(output).toMatch(
      /'t-a' has a problem: world\.place: "there" is not allowed; it stays "here" for as long as the cluster lives; .*npm run down/,
    );
    expect(output).not.toMatch(/replace|delete/);
  }
  expect([project.log(), project.state().length]).toEqual(before);
  project.model({ 0: thing("a"), 1: thing("b", { value: { $ref: [0, "serial"] } }) });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
});

test("refresh sees what went behind its back, keeps what cannot be looked at, and up mends only that", async () => {
  project.model({ 0: thing("a"), 1: thing("b") });
  await project.up();
  const unreachable = await project.refresh({ MEMORY_UNREACHABLE: "1" });
  expect(unreachable.exitCode).toBe(0);
  expect(unreachable.output).toContain(
    "could not be looked at, so what is recorded stays: the owner cannot be reached",
  );
  expect(stateOf("a")).toBeDefined();
  rmSync(join(project.world, "b.json"));
  expect((await project.refresh()).output).toMatch(/1 deleted/);
  expect(stateOf("b")).toBeUndefined();
  expect((await project.up()).output).toMatch(/1 created/);
  const made = project.log().filter((line) => line.startsWith("apply "));
  expect(made.sort()).toEqual(["apply a create", "apply b create", "apply b create"]);
});

test("secrets, given or derived, are in clear in no state, output or log", async () => {
  project.model({ 0: thing("a", { password: { $secret: "hunter2" } }) }, { token: { $ref: [0, "token"] } });
  const runs = [await project.up(), await project.preview(), await project.refresh(), await project.up()];
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  expect(runs.map(({ output }) => output).join("") + project.stateText()).not.toContain("hunter2");
  const shown = await project.run(["stack", "output", "token", "--show-secrets", "-s", "dev"]);
  expect(shown.output).toContain("token-of-hunter2");
});

test("progress stands on the resource's own row", async () => {
  project.model({ 0: thing("a", { slow: 300 }) });
  expect((await project.up()).output).toMatch(/memory:Thing t-a .*made, waiting/);
});

test("what does not depend on each other is made side by side; an edge over an empty component holds", async () => {
  const pool = { type: "NodePool", name: "pool" };
  project.model({
    0: thing("a", { slow: 1500 }),
    1: thing("b", { slow: 1500 }, { component: pool }),
    9: thing("c", {}, { component: { type: "ControlPlane", name: "c" }, after: [0, 1, 7] }),
  });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  const log = project.log();
  expect(new Set(log.slice(0, 2))).toEqual(new Set(["apply a create", "apply b create"]));
  expect(log.slice(4)).toEqual(["apply c create", "applied c"]);
});

test("taking one index out of the model takes its row out of the preview, and nothing else", async () => {
  const parts = { 0: thing("a"), 1: thing("b"), 2: thing("c", {}, { after: [1] }) };
  project.model(parts);
  await project.up();
  const { 1: _taken, ...rest } = parts;
  project.model(rest);
  const { output } = await project.preview();
  expect(output).toMatch(/1 to delete/);
  expect(output).toMatch(/- +pulumi-nodejs:dynamic\/memory:Thing t-b delete/);
  expect(output).toMatch(/4 unchanged/);
});

test("an engine killed in the middle of a create takes its provider and language host along, and the next up adopts what was begun", async () => {
  project.model({ 0: thing("a", { slow: 60_000 }) });
  const run = project.start(["up", "--yes", "--skip-preview", "-s", "dev"]);
  await until(() => existsSync(join(project.world, "a.json")));
  run.kill("SIGKILL");
  await run;
  await until(() => pluginsIn(project.folder).length === 0);
  expect(project.log()).not.toContain("applied a");
  const serial = readFileSync(join(project.world, "a.json"), "utf8");

  const locked = await project.up();
  expect(locked.output).toContain("currently locked by 1 lock");
  await project.run(["cancel", "--yes", "-s", "dev"]);
  project.model({ 0: thing("a") });
  expect(await project.up()).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(serial).serial).toBe(stateOf("a")?.id);
  expect(await project.destroy()).toMatchObject({ exitCode: 0 });
  expect(things()).toEqual([]);
});

test("the interrupt file ends a wait at once, and what was begun is recorded", async () => {
  project.model({ 0: thing("a", { slow: 60_000 }) });
  const file = join(project.folder, "interrupted");
  const run = project.start(["up", "--yes", "--skip-preview", "-s", "dev"], { KUBICORN_INTERRUPT_FILE: file });
  await until(() => existsSync(join(project.world, "a.json")));
  writeFileSync(file, "");
  const { exitCode, all } = await run;
  expect(exitCode).toBe(1);
  expect(all).toContain("a was interrupted");
  expect(project.pendingOperations()).toEqual([]);
  expect(stateOf("a")?.id).toMatch(/^a-/);
});

/** The ids of the dynamic provider and language host processes that run in that folder. */
function pluginsIn(folder: string): string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      const command = readFileSync(`/proc/${id}/cmdline`, "utf8");
      const { PWD } = Object.fromEntries(
        readFileSync(`/proc/${id}/environ`, "utf8")
          .split("\0")
          .map((line) => line.split(/=(.*)/s).slice(0, 2)),
      );
      return /dynamic-provider|pulumi-language-nodejs/.test(command) && PWD === folder;
    } catch {
      return false;
    }
  });
}

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 15_000;
  while (!holds()) {
    if (Date.now() > end) {
      throw new Error(`waited 15 s in vain for ${holds}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
