/** The cache: an entry is whole or absent, made once, and a dead maker is taken over. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cached, cachedAlready, cacheFolder } from "../../setup/cache";
import type { Step } from "../../setup/step";

let folder: string;
let lines: string[];
let step: Step;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubicorn cache é-"));
  vi.stubEnv("KUBICORN_CACHE", folder);
  lines = [];
  step = {
    say: (line) => lines.push(line),
    progress: (line) => lines.push(line),
    signal: new AbortController().signal,
  };
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const fill = (folder: string) => writeFile(join(folder, "thing"), "whole");
const lockFile = () => join(folder, "thing-1.lock");
const leaveLock = (pid: number, since = Date.now(), host = hostname()) =>
  writeFileSync(lockFile(), JSON.stringify({ pid, hostname: host, since }));

/** The id of a process that has ended. */
async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return child.pid ?? 0;
}

describe("cacheFolder", () => {
  it("prefers KUBICORN_CACHE, then XDG_CACHE_HOME, then the home folder", () => {
    expect(cacheFolder()).toBe(folder);
    vi.stubEnv("KUBICORN_CACHE", "");
    vi.stubEnv("XDG_CACHE_HOME", join(folder, "xdg"));
    expect(cacheFolder()).toBe(join(folder, "xdg", "pulumi-kubicorn"));
    vi.stubEnv("XDG_CACHE_HOME", "relative");
    vi.stubEnv("HOME", join(folder, "home"));
    expect(cacheFolder()).toBe(join(folder, "home", ".cache", "pulumi-kubicorn"));
  });

  it("names KUBICORN_CACHE where it cannot be written", () => {
    writeFileSync(join(folder, "file"), "");
    vi.stubEnv("KUBICORN_CACHE", join(folder, "file", "below"));
    expect(() => cacheFolder()).toThrow(/cannot be written .*Set KUBICORN_CACHE to a folder/s);
  });

  it("names KUBICORN_CACHE where there is no home", () => {
    vi.stubEnv("KUBICORN_CACHE", "");
    vi.stubEnv("XDG_CACHE_HOME", "");
    vi.stubEnv("HOME", "");
    expect(() => cacheFolder()).toThrow(/HOME is not set.*Set KUBICORN_CACHE/);
  });
});

describe("cached", () => {
  it("makes an entry once, also for two that ask at the same time", async () => {
    const make = vi.fn(fill);
    const both = await Promise.all([cached("thing-1", step, make), cached("thing-1", step, make)]);
    expect(both).toEqual([join(folder, "thing-1"), join(folder, "thing-1")]);
    expect(await cached("thing-1", step, make)).toBe(both[0]);
    expect(make).toHaveBeenCalledTimes(1);
    expect(readdirSync(folder)).toEqual(["thing-1"]);
  });

  it("leaves nothing behind when making fails, and makes it the next time", async () => {
    const broken = cached("thing-1", step, async (aside) => {
      await fill(aside);
      throw new Error("the disk is full");
    });
    await expect(broken).rejects.toThrow("the disk is full");
    expect(readdirSync(folder)).toEqual([]);
    expect(cachedAlready("thing-1")).toBeUndefined();
    expect(existsSync(join(await cached("thing-1", step, fill), "thing"))).toBe(true);
  });

  it("takes over from a maker that was killed, and removes what it left", async () => {
    leaveLock(await endedProcess());
    const leftover = join(folder, "thing-1.making-99");
    await writeFile(leftover, "half");
    chmodSync(leftover, 0o400);
    await cached("thing-1", step, fill);
    expect(lines.join()).toMatch(/taking over from process \d+, which ended/);
    expect(readdirSync(folder)).toEqual(["thing-1"]);
  });

  it("takes over when the maker's id now belongs to a younger process", async () => {
    leaveLock(process.pid, Date.now() - 86_400_000);
    await cached("thing-1", step, fill);
    expect(lines.join()).toContain("taking over");
  });

  it("takes over from a lock that nobody can read", async () => {
    writeFileSync(lockFile(), "");
    await cached("thing-1", step, fill);
    expect(cachedAlready("thing-1")).toBeDefined();
  });

  it("waits for a live maker, says so, and ends the wait when interrupted", async () => {
    leaveLock(process.pid);
    const interruption = new AbortController();
    const waiting = cached("thing-1", { ...step, signal: interruption.signal }, fill);
    await vi.waitFor(() => expect(lines.join()).toContain(`waiting for process ${process.pid}`));
    interruption.abort(new Error("interrupted"));
    await expect(waiting).rejects.toThrow("interrupted");
    expect(existsSync(lockFile())).toBe(true);
  });

  it("waits for a maker on another computer that shares the folder", async () => {
    leaveLock(1, Date.now(), "elsewhere");
    const waiting = cached("thing-1", step, fill);
    await vi.waitFor(() => expect(lines.join()).toContain("on elsewhere"));
    rmSync(lockFile());
    await waiting;
    expect(lines.join()).not.toContain("taking over");
  });
});
