/** Finding a container engine: the right one, in the right order, and one sentence where there is none. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureContainerEngine, findContainerEngine } from "../../setup/container-engine";
import { raiseInotifyLimits } from "../../setup/inotify-limits";
import { startWithComputer } from "../../setup/start-with-computer";
import type { Step } from "../../setup/step";
import { type Answer, EngineProgram } from "../doubles/engine-program";

let programs: EngineProgram[];
let lines: string[];
let step: Step;

beforeEach(() => {
  programs = [];
  lines = [];
  step = {
    say: (line) => lines.push(line),
    progress: (line) => lines.push(line),
    signal: new AbortController().signal,
  };
  // Only the programs of the test are there.
  vi.stubEnv("PATH", "/nowhere");
  vi.stubEnv("KUBICORN_ENGINE", "");
});

afterEach(() => {
  for (const program of programs.reverse()) {
    program.remove();
  }
  vi.unstubAllEnvs();
});

function has(name: "podman" | "docker", answer: { stderr?: string; exitCode?: number } = {}): void {
  programs.push(new EngineProgram(name, [{ to: "version", ...answer }, { to: "info" }]));
}

describe("finding an engine", () => {
  it("prefers podman", async () => {
    has("docker");
    has("podman");
    expect((await findContainerEngine()).name).toBe("podman");
  });

  it("takes docker where podman does not answer", async () => {
    has("podman", { stderr: "Error: cannot connect to Podman", exitCode: 125 });
    has("docker");
    expect((await findContainerEngine()).name).toBe("docker");
  });

  it.each<["podman" | "docker", string]>([
    ["podman", "true"],
    ["docker", "[name=seccomp,profile=builtin name=rootless name=cgroupns]"],
  ])("refuses a %s that runs without the rights of root, before anything is made", async (name, rights) => {
    vi.spyOn(process, "getuid").mockReturnValue(1000);
    programs.push(new EngineProgram(name, [{ to: "version" }, { to: "info", stdout: rights }]));
    await expect(ensureContainerEngine(step, { yes: true })).rejects.toThrow(
      new RegExp(`${name}: it runs without the rights of root, and machines need them. Run as root`),
    );
    expect(programs[0]?.calls.every((call) => /^(version|info)/.test(call))).toBe(true);
    vi.restoreAllMocks();
  });

  it("takes the one that KUBICORN_ENGINE names, and only that", async () => {
    has("podman");
    vi.stubEnv("KUBICORN_ENGINE", "docker");
    await expect(findContainerEngine()).rejects.toThrow(/docker: docker is not installed/);
  });

  it("refuses a KUBICORN_ENGINE that it does not know", async () => {
    vi.stubEnv("KUBICORN_ENGINE", "lxc");
    await expect(findContainerEngine()).rejects.toThrow('KUBICORN_ENGINE is "lxc"; podman or docker is allowed.');
  });

  it("says what was tried and what to install", async () => {
    has("docker", { stderr: "Cannot connect to the Docker daemon. Is the docker daemon running?", exitCode: 1 });
    await expect(findContainerEngine()).rejects.toThrow(
      /no container engine answers here: install podman .*apt-get install podman.*\n {2}podman: .*not installed.*\n {2}docker: .*Cannot connect to the Docker daemon.*systemctl start docker/,
    );
  });

  it("never installs podman for somebody who wants docker", async () => {
    vi.stubEnv("KUBICORN_ENGINE", "docker");
    await expect(ensureContainerEngine(step, { yes: true })).rejects.toThrow(/docker: docker is not installed/);
    expect(lines).toEqual([]);
  });

  it("installs nothing without leave", async () => {
    const ask = vi.fn(async () => false);
    await expect(ensureContainerEngine(step, { yes: false, ask })).rejects.toThrow(/install podman/);
    await expect(ensureContainerEngine(step, { yes: false })).rejects.toThrow(/install podman/);
  });
});

describe("machines after a restart of this computer", () => {
  it.each<[string, Answer[], RegExp[]]>([
    ["come back by podman's unit, which is enabled where it is not", [{ to: "enable" }], [/^enabled podman-restart/]],
    [
      "do not, where it cannot be enabled, which is said with the command",
      [{ to: "enable podman", exitCode: 1 }],
      [/do not come back by themselves .*"sudo systemctl enable podman-restart.service"/],
    ],
  ])("%s", async (_case, answers, said) => {
    programs.push(new EngineProgram("systemctl", [{ to: "is-enabled", stdout: "disabled", exitCode: 1 }, ...answers]));
    await startWithComputer(step, tmpdir());
    expect(lines).toEqual(said.map((words) => expect.stringMatching(words)));
  });

  it.each(["enabled", "static", ""])("nothing is done where systemctl calls the unit %j", async (stdout) => {
    programs.push(new EngineProgram("systemctl", [{ to: "is-enabled", stdout }]));
    await startWithComputer(step, tmpdir());
    await startWithComputer(step, "/nowhere");
    expect(lines).toEqual([]);
  });
});

describe("inotify limits", () => {
  let folder: string;
  const limit = (name: string) => join(folder, name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kubicorn-inotify-"));
    writeFileSync(limit("max_user_instances"), "128\n");
    writeFileSync(limit("max_user_watches"), "1000000\n");
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("are raised where they are too low, and left alone where not", async () => {
    await raiseInotifyLimits(step, folder);
    expect(readFileSync(limit("max_user_instances"), "utf8")).toBe("8192");
    expect(readFileSync(limit("max_user_watches"), "utf8")).toBe("1000000\n");
    expect(lines).toEqual([expect.stringMatching(/^raised .*max_user_instances from 128 to 8192/)]);
    await raiseInotifyLimits(step, folder);
    expect(lines).toHaveLength(1);
  });

  it("that may not be raised are told, with the command", async () => {
    rmSync(limit("max_user_instances"));
    // A number that nobody can write, root neither.
    symlinkSync("/proc/sys/kernel/random/entropy_avail", limit("max_user_instances"));
    await raiseInotifyLimits(step, folder);
    expect(lines).toEqual([
      'low limits: several machines may fail with "too many open files"; run "sudo sysctl -w fs.inotify.max_user_instances=8192"',
    ]);
  });

  it("mean nothing where there are none", async () => {
    await raiseInotifyLimits(step, join(folder, "none"));
    expect(lines).toEqual([]);
  });
});
