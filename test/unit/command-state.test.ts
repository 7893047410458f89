/** What the command reads from a backend folder: locks and unfinished creations. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isEmptyState, pendingCreates } from "../../bin/pending-creates";
import { onlyDeadLocks } from "../../reconciler/lock";
import type { StackPlace } from "../../reconciler/stack-place";

describe("pendingCreates", () => {
  const stackUrn = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev";
  const urn = (name: string) => `urn:pulumi:dev::p::a:b:C::${name}`;
  const state = (recorded: string[], operations: object[]) =>
    JSON.stringify({
      version: 3,
      checkpoint: { latest: { resources: recorded.map((urn) => ({ urn })), pending_operations: operations } },
    });

  it("tells what was adopted from what is lost, and leaves other operations alone", () => {
    const operations = [
      { type: "creating", resource: { urn: urn("kept") } },
      { type: "creating", resource: { urn: urn("lost") } },
      { type: "deleting", resource: { urn: urn("other") } },
    ];
    expect(pendingCreates(state([stackUrn, urn("kept")], operations))).toEqual({
      adopted: ["kept"],
      lost: ["lost"],
      stackUrn,
    });
  });

  it.each([
    ["", false],
    ['{"checkpoint":{"latest":null}}', true],
    [state([stackUrn], []), true],
    [state([stackUrn], [{ type: "creating", resource: { urn: urn("a") } }]), false],
    [JSON.stringify({ checkpoint: { latest: { resources: [{ custom: true, type: "pulumi:providers:aws" }] } } }), true],
    [JSON.stringify({ checkpoint: { latest: { resources: [{ custom: true, type: "a:b:C" }] } } }), false],
  ])("calls the state %s empty: %s", (text, expected) => {
    expect(isEmptyState(text)).toBe(expected);
  });

  it("finds nothing in a state that is empty", () => {
    expect(pendingCreates('{"checkpoint":{"latest":null}}')).toEqual({ adopted: [], lost: [], stackUrn: undefined });
  });
});

describe("onlyDeadLocks", () => {
  let folder: string;
  let stack: StackPlace;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kubicorn-locks-"));
    stack = { project: "p", stack: "dev", fullName: "dev", backendFolder: folder };
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function lock(fields: object): void {
    const locks = join(folder, ".pulumi/locks/organization/p/dev");
    mkdirSync(locks, { recursive: true });
    const all = { pid: process.pid, username: "ada", hostname: hostname(), timestamp: new Date(), ...fields };
    writeFileSync(join(locks, `${Math.random()}.json`), JSON.stringify(all));
  }

  it("is false without locks, also where the backend is no folder", async () => {
    expect(await onlyDeadLocks(stack)).toBe(false);
    expect(await onlyDeadLocks({ ...stack, backendFolder: undefined })).toBe(false);
  });

  it("finds the locks of a stack that is named with its organization and project", async () => {
    lock({});
    await expect(onlyDeadLocks({ ...stack, fullName: "organization/p/dev" })).rejects.toThrow("is in use");
  });

  it("is true when the process is gone, or a younger one has its id", async () => {
    const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
    await new Promise((resolve) => child.once("exit", resolve));
    lock({ pid: child.pid });
    expect(await onlyDeadLocks(stack)).toBe(true);
    lock({ timestamp: "2020-01-01T00:00:00Z" });
    expect(await onlyDeadLocks(stack)).toBe(true);
  });

  it.runIf(process.platform === "linux")("is true when the process has ended, and nobody has noticed", async () => {
    // The shell becomes a program that never looks after the child that it started before.
    const parent = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 30"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const pid = await new Promise<string>((resolve) => parent.stdout.once("data", (data) => resolve(String(data))));
    await vi.waitFor(() => expect(readFileSync(`/proc/${pid.trim()}/stat`, "utf8")).toContain(") Z "));
    lock({ pid: Number(pid) });
    expect(await onlyDeadLocks(stack)).toBe(true);
    parent.kill();
  });

  it("says who holds the stack when the run is alive, or on another computer", async () => {
    lock({});
    await expect(onlyDeadLocks(stack)).rejects.toThrow(`(process ${process.pid} on ${hostname()})`);
    await expect(onlyDeadLocks(stack)).rejects.toThrow(
      /The stack dev is in use: ada has been running.*"\$\(npm run -s env\)"/s,
    );
    lock({ hostname: "elsewhere", pid: 1 });
    rmSync(join(folder, ".pulumi"), { recursive: true });
    lock({ hostname: "elsewhere", pid: 1 });
    await expect(onlyDeadLocks(stack)).rejects.toThrow("process 1 on elsewhere");
  });
});
