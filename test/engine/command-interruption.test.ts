/** The end of a run before its time, on the real CLI: signals, a closed terminal, kill -9, and the run after it. */
import { existsSync } from "node:fs";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CommandProject } from "./command-project";

let project: CommandProject;

beforeEach(() => {
  project = new CommandProject();
});

afterEach(() => project.remove());

const up = ["up", "--yes", "--skip-preview"];
const begun = () => vi.waitFor(() => expect(project.log()).toEqual(["begun", "begun"]), { timeout: 60_000 });

describe("without a terminal", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s is one SIGINT for Pulumi, and ends waits in the provider",
    async (signal) => {
      const run = project.start(up, { TENTHS: "300" });
      await begun();
      run.kill(signal);
      const { exitCode, signal: endedBy, stderr } = await run;
      expect(signal === "SIGHUP" ? endedBy : exitCode, stderr).toBe(signal === "SIGHUP" ? "SIGHUP" : 1);
      expect(project.log().filter((line) => line === "interrupted")).toHaveLength(2);
      // A second SIGINT would have left what was being made as pending.
      expect(project.state()).toEqual({ resources: 4, pending: 0 });
      expect(project.locks()).toEqual([]);
      expect((await project.up()).exitCode).toBe(0);
    },
  );

  test("SIGTERM after SIGHUP, as at the end of a session, hurries nothing", async () => {
    const run = project.start(up, { TENTHS: "15", DEAF: "1" });
    await begun();
    run.kill("SIGHUP");
    setTimeout(() => run.kill("SIGTERM"), 300);
    await run;
    expect(project.log().filter((line) => line === "made")).toHaveLength(2);
    expect(project.state()).toEqual({ resources: 4, pending: 0 });
  });

  test("a second Ctrl-C ends at once; the next up adopts what was begun and clears its record", async () => {
    const run = project.start(up, { TENTHS: "300", DEAF: "1" });
    await begun();
    run.kill("SIGINT");
    setTimeout(() => run.kill("SIGINT"), 600);
    expect((await run).exitCode).not.toBe(0);
    expect(project.state().pending).toBe(2);
    const next = await project.up();
    expect(next.exitCode, next.stderr).toBe(0);
    expect(next.stderr).toMatch(
      /Clearing the record of an interrupted run; what it was making is adopted: (one, two|two, one)\./,
    );
    expect(project.state()).toEqual({ resources: 4, pending: 0 });
    expect((await project.up()).stderr).toBe("");
  });

  test("a step that does not end after Ctrl-C is told, with what to do", async () => {
    const run = project.start(up, { TENTHS: "300", DEAF: "1" });
    await begun();
    run.kill("SIGINT");
    await vi.waitFor(() => expect(project.log()).toHaveLength(2));
    const told = new Promise<string>((resolve) => run.stderr.on("data", (chunk) => resolve(String(chunk))));
    expect(await told).toMatch(/^Waiting for the steps that are running to end.* Another Ctrl-C ends at once/);
    run.kill("SIGINT");
    const { exitCode, stderr } = await run;
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toContain("Interrupted. What was made is recorded");
  });

  test("a folder for temporary files that is not there takes nothing away from an interruption", async () => {
    const run = project.start(up, { TENTHS: "300", TMPDIR: "/proc/no-such-folder" });
    await begun();
    run.kill("SIGTERM");
    const { exitCode, stderr } = await run;
    expect(exitCode, stderr).toBe(1);
    expect(stderr).not.toMatch(/ENOENT| at /);
    expect(project.log().filter((line) => line === "interrupted")).toHaveLength(2);
  });

  test("after kill -9 the dead lock is taken away, and said", async () => {
    const run = project.start(up, { TENTHS: "300" });
    await begun();
    project.killAll();
    await run;
    expect(project.locks()).toHaveLength(1);
    const next = await project.up();
    expect(next.exitCode, next.stderr).toBe(0);
    expect(next.stderr).toContain("Took away the lock on the stack local: the run that held it was killed.");
    expect(project.state()).toEqual({ resources: 4, pending: 0 });
  });
});

/** Runs the command on a terminal of its own, which `script` makes, and acts on it once the things are begun. */
async function onTerminal(act: (terminal: ReturnType<typeof execa>) => void): Promise<void> {
  const line = `exec '${process.execPath}' '${require.resolve("../../entry/command.cjs")}' ${up.join(" ")}`;
  const terminal = execa("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    cwd: project.folder,
    env: { ...project.environment, TENTHS: "300" },
    reject: false,
  });
  await begun();
  act(terminal);
  await terminal;
}

describe.runIf(existsSync("/usr/bin/script"))("on a terminal", () => {
  test("one Ctrl-C is one SIGINT for Pulumi", async () => {
    await onTerminal((terminal) => terminal.stdin?.write("\x03"));
    expect(project.log().filter((line) => line === "interrupted")).toHaveLength(2);
    expect(project.state()).toEqual({ resources: 4, pending: 0 });
    expect(project.locks()).toEqual([]);
  });

  test("a closed terminal is one SIGINT for Pulumi, which ends in good order", async () => {
    await onTerminal((terminal) => terminal.kill("SIGKILL"));
    await vi.waitFor(() => expect(project.state()).toEqual({ resources: 4, pending: 0 }), { timeout: 20_000 });
    await vi.waitFor(() => expect(project.locks()).toEqual([]), { timeout: 20_000 });
  });
});
