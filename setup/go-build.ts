/**
 * Building one Go program from the module proxy, telling how far it is.
 * An interrupted build goes on where it was: Go keeps what it has compiled.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, UserError } from "../cloud/errors";
import { cacheFolder } from "./cache";
import { goProgram } from "./go-toolchain";
import type { Step } from "./step";

export interface GoBuild {
  /** The folder of the go.mod and go.sum that fix every version. */
  readonly module: string;
  /** The main package, as an import path or "./x". */
  readonly package: string;
  /** The program to write. */
  readonly output: string;
  /** String variables to set in it: import path and name, to value. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** How often a running build looks how far it is, in milliseconds. */
const lookEvery = 1000;

export async function goBuild(build: GoBuild, step: Step): Promise<void> {
  const { execa } = await import("execa");
  const go = await goProgram(step);
  const temporary = join(dirname(build.output), ".go-tmp");
  await mkdir(temporary, { recursive: true });
  const options = {
    cwd: build.module,
    // What a build that is killed leaves goes with the folder that it builds into.
    env: { ...goEnvironment(go), GOTMPDIR: temporary },
    cancelSignal: step.signal,
    // At this one it ends what it has started too; at SIGTERM it does not.
    killSignal: "SIGINT",
  } as const;
  const link = ["-s -w", ...Object.entries(build.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`)];
  try {
    step.say("downloading Go modules");
    const { stdout } = await execa(go, ["list", "-deps", build.package], options);
    const packages = stdout.split("\n").length;
    const flags = ["-trimpath", "-v", "-ldflags", link.join(" "), "-o", build.output];
    const running = execa(go, ["build", ...flags, build.package], options);
    const stop = tellProgress(running.stderr, packages, step);
    await running.finally(stop);
  } catch (error) {
    step.signal.throwIfAborted();
    const words = endOf(error);
    const outOfReach = /dial |lookup |proxy|timeout|connection|TLS/i.test(words);
    throw new UserError(
      `Building ${build.package} of ${build.module} failed:\n${words}` +
        (outOfReach
          ? "\nGo fetches sources from where GOPROXY says; when that can be reached again, run this again."
          : ""),
    );
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The last lines of what a failed program wrote, without the names of packages that compiled well. */
function endOf(error: unknown): string {
  const written = error instanceof Error && "stderr" in error ? String(error.stderr) : messageOf(error);
  const lines = written.split("\n").filter((line) => /[\s:]/.test(line));
  return lines.length > 0 ? lines.slice(-15).join("\n") : messageOf(error);
}

/** The build prints one line a package that it compiles; what is compiled already is not in it. */
function tellProgress(output: NodeJS.ReadableStream, packages: number, step: Step): () => void {
  let compiled = 0;
  output.on("data", (chunk: Buffer) => {
    compiled += chunk.toString("latin1").split("\n").length - 1;
  });
  const timer = setInterval(() => step.progress(`compiled ${compiled} of up to ${packages} packages`), lookEvery);
  return () => clearInterval(timer);
}

/** What a build needs in its environment, whatever the person has set for builds of their own. */
function goEnvironment(go: string): Record<string, string> {
  const own = { GOFLAGS: "-mod=readonly -buildvcs=false", GOWORK: "off", GOTOOLCHAIN: "local", CGO_ENABLED: "0" };
  // Without a Go of the person's own, what the build leaves stays in the cache too.
  return go === "go"
    ? own
    : { ...own, GOPATH: join(cacheFolder(), "go-modules"), GOCACHE: join(cacheFolder(), "go-built") };
}
