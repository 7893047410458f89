/** Set-up steps say what they do and how long it took; the toolchain and the package are found. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isNewEnough } from "../../setup/go-toolchain";
import { packageRoot } from "../../setup/package-root";
import { withStep } from "../../setup/step";

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
