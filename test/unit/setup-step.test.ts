/** Set-up steps say what they do and how long it took; the toolchain and the package are found. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { goBuild } from "../../setup/go-build";
import { isNewEnough } from "../../setup/go-toolchain";
import { packageRoot } from "../../setup/package-root";
import { type Step, withStep } from "../../setup/step";

describe("withStep", () => {
  it("prints the title, the progress and the time", async () => {
    const lines: string[] = [];
    const result = await withStep(
      "machine image",
      async (step) => {
        step.say("1 of 2");
        return "made";
      },
      { print: (l) => lines.push(l) },
    );
    expect(result).toBe("made");
    expect(lines).toEqual([
      "machine image ...",
      "machine image: 1 of 2",
      expect.stringMatching(/: done in \d+\.\d s$/),
    ]);
  });

  it("tells a failure from an interruption, and passes the error on", async () => {
    const lines: string[] = [];
    const interruption = new AbortController();
    const fail = async () => {
      throw new Error("no");
    };
    await expect(withStep("a", fail, { print: (l) => lines.push(l) })).rejects.toThrow("no");
    interruption.abort();
    const options = { print: (l: string) => lines.push(l), signal: interruption.signal };
    await expect(withStep("b", fail, options)).rejects.toThrow("no");
    expect(lines[1]).toMatch(/^a: failed after/);
    expect(lines[3]).toMatch(/^b: interrupted after/);
  });
});

describe("progress of a step", () => {
  it("is one line every 20 s at most, whatever is told, and says at once what is no progress", async () => {
    vi.useFakeTimers();
    const lines: string[] = [];
    const run = async (step: Step) => {
      for (let second = 0; second < 60; second += 1) {
        step.progress(`compiled ${second} packages`);
        await vi.advanceTimersByTimeAsync(1000);
      }
      step.say("linking");
    };
    await withStep("Pulumi CLI", run, { print: (line) => lines.push(line) });
    vi.useRealTimers();
    expect(lines.slice(1, -1)).toEqual([
      "Pulumi CLI: compiled 20 packages",
      "Pulumi CLI: compiled 40 packages",
      "Pulumi CLI: linking",
    ]);
  });
});

describe("goBuild", () => {
  const folder = mkdtempSync(join(tmpdir(), "kubicorn-go-"));
  const path = process.env.PATH;
  afterEach(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true, force: true });
  });

  it("ends at once when it is interrupted, with what it has started, and leaves no temporary files", async () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    // Like Go, it ends its compilers and cleans up at SIGINT only.
    const go = [
      "#!/bin/bash",
      'case $1 in version) echo "go version go1.27.3 linux/amd64"; exit ;; list) echo a; exit ;; esac',
      'mkdir -p "$GOTMPDIR/go-build1"',
      `sleep 60 & echo $! >'${folder}/compiler'`,
      "trap 'kill %1; exit 1' INT",
      "wait",
    ];
    writeFileSync(join(bin, "go"), go.join("\n"), { mode: 0o755 });
    process.env.PATH = `${bin}:${path}`;
    const interruption = new AbortController();
    const output = join(folder, "made", "program");
    const build = withStep("b", (step) => goBuild({ module: folder, package: ".", output }, step), {
      signal: interruption.signal,
      print: () => undefined,
    });
    const compiler = await vi.waitFor(
      () => readFileSync(join(folder, "compiler"), "utf8").match(/^\d+/)?.[0] ?? expect.fail(),
      5000,
    );
    interruption.abort(new Error("interrupted"));
    await expect(build).rejects.toThrow("interrupted");
    expect(readdirSync(join(folder, "made"))).toEqual([]);
    await vi.waitFor(() => expect(() => process.kill(Number(compiler), 0)).toThrow("ESRCH"), 2000);
  });
});

describe("isNewEnough", () => {
  it.each([
    ["go version go1.26.8 linux/amd64", true],
    ["go version go1.26.6 linux/amd64", true],
    ["go version go1.27 linux/amd64", true],
    ["go version go2.0.0 linux/amd64", true],
    ["go version go1.26.5 linux/amd64", false],
    ["go version go1.26 linux/amd64", false],
    ["go version go1.9.7 linux/amd64", false],
    ["command not found", false],
  ])("%s: %s", (line, enough) => {
    expect(isNewEnough(line)).toBe(enough);
  });
});

describe("packageRoot", () => {
  it("is the folder of package.json", () => {
    expect(existsSync(join(packageRoot(), "package.json"))).toBe(true);
  });
});
