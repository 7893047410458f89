/** A provider whose engine was killed, on the real engine: it ends within two seconds, and what it is running with it. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Project } from "./project";

let project: Project;

beforeEach(async () => {
  project = await new Project("program").init();
});

afterEach(() => project.remove());

/** Command lines of all processes that this project's runs have started and that are still there. */
function processes(): string[] {
  const of = (id: string, file: string) => {
    try {
      return readFileSync(`/proc/${id}/${file}`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((id) => /^\d+$/.test(id) && of(id, "environ").includes(`MEMORY_WORLD=${project.world}\0`))
    .map((id) => of(id, "cmdline").replaceAll("\0", " "))
    .filter((line) => line !== "");
}

/** A container engine whose first call, which asks for its version, does not end; gives the folder for PATH. */
function engineThatHangs(): string {
  const bin = join(project.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "podman"), '#!/bin/sh\necho "$*" >>"$MEMORY_WORLD/called"; exec sleep 300\n');
  chmodSync(join(bin, "podman"), 0o755);
  return bin;
}

test.skipIf(process.platform !== "linux")("inside a call of the container engine", async () => {
  const path = `${engineThatHangs()}:${process.env.PATH}`;
  const run = project.start(["up", "--yes", "--skip-preview", "-s", "dev"], { PATH: path, KUBICORN_ENGINE: "podman" });
  await vi.waitFor(() => expect(existsSync(join(project.world, "called"))).toBe(true), { timeout: 60_000 });
  expect(processes()).toEqual(expect.arrayContaining([expect.stringContaining("dynamic-provider"), "sleep 300 "]));
  run.kill("SIGKILL");
  await vi.waitFor(() => expect(processes()).toEqual([]), { timeout: 2000, interval: 100 });
  await run;
});
