/**
 * One run of the command that is interrupted at a point of its work, and what it leaves: on the container engine, among the
 * processes, in the temporary folder.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { labelNames } from "../../providers/local/labels";
import { type ClusterProject, eventually } from "../e2e/cluster-project";

const command = resolve(__dirname, "../../entry/command.cjs");

/** How a run ends before its time. */
export const interruptions = ["kill -9", "SIGTERM", "Ctrl-C", "Ctrl-C twice", "lost terminal"] as const;
export type Interruption = (typeof interruptions)[number];

/** The pause between two Ctrl-C that a person gives, in milliseconds. */
const secondThought = 700;

export interface Ended {
  readonly exitCode: number;
  /** From the first signal to the end of the command, in seconds. */
  readonly seconds: number;
  readonly output: string;
}

export class Faulty {
  readonly temporaryFolder: string;

  constructor(
    readonly project: ClusterProject,
    readonly cluster: string,
  ) {
    this.temporaryFolder = join(project.folder, "tmp");
    mkdirSync(this.temporaryFolder);
  }

  /** Runs the verb until its output or the world is so far, interrupts it, and waits for its end. */
  async interrupt(verb: string, isThere: (output: string) => Promise<boolean>, how: Interruption): Promise<Ended> {
    const run = execa(process.execPath, [command, verb, "--yes", "--skip-preview"], {
      cwd: this.project.folder,
      env: { TMPDIR: this.temporaryFolder },
      all: true,
      reject: false,
      stdin: "ignore",
      // As after `setsid`: no terminal, whether the tests have one or not.
      detached: true,
    });
    let output = "";
    run.all.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const ended = run.then(() => true);
    await eventually(
      `${verb} is so far; it printed:\n${output}`,
      120,
      async () => run.exitCode !== null || (await isThere(output)),
      (so) => so,
    );
    const began = performance.now();
    give(how, run.pid ?? 0);
    await ended;
    const seconds = (performance.now() - began) / 1000;
    const { exitCode, signal } = await run;
    return { exitCode: exitCode ?? 128 + (signal ? constants.signals[signal] : 0), seconds, output };
  }

  /** What the container engine has of this cluster, each as `kind id`. */
  async things(): Promise<string[]> {
    const filter = ["--filter", `label=${labelNames.cluster}=${this.cluster}`];
    const lists = await Promise.all([
      list("container", "ps", "--all", "--no-trunc", "--format", "{{.ID}}", ...filter),
      list("network", "network", "ls", "--format", "{{.Name}}", ...filter),
      list("volume", "volume", "ls", "--format", "{{.Name}}", ...filter),
    ]);
    return lists.flat().sort();
  }

  /** Command lines of processes that this project's runs have started, but for those that a machine consists of. */
  processes(): string[] {
    return readdirSync("/proc")
      .filter((id) => /^\d+$/.test(id) && this.isOurs(id))
      .map((id) => commandLine(id).join(" "))
      .filter((line) => line !== "");
  }

  private isOurs(id: string): boolean {
    const started = read(`/proc/${id}/environ`).includes(`TMPDIR=${this.temporaryFolder}\0`);
    return started && !commandLine(id)[0]?.endsWith("conmon");
  }

  /** What runs have left in the temporary folder; Pulumi's own leavings are not ours to judge. */
  temporaryFiles(): string[] {
    return readdirSync(this.temporaryFolder).filter((name) => name.startsWith("kubicorn"));
  }
}

function give(how: Interruption, id: number): void {
  if (how === "kill -9") {
    killGroup(id);
    return;
  }
  const signals = {
    SIGTERM: "SIGTERM",
    "lost terminal": "SIGHUP",
    "Ctrl-C": "SIGINT",
    "Ctrl-C twice": "SIGINT",
  } as const;
  signalIfThere(id, signals[how]);
  if (how === "Ctrl-C twice") {
    setTimeout(() => signalIfThere(id, "SIGINT"), secondThought);
  }
}

/** As the end of a terminal's process group: everything but the providers, which Pulumi gives groups of their own. */
function killGroup(id: number): void {
  for (const one of [...descendants(id), id]) {
    signalIfThere(one, "SIGKILL");
  }
}

function descendants(id: number): number[] {
  const children = read(`/proc/${id}/task/${id}/children`).split(" ").filter(Boolean).map(Number);
  return children
    .filter((child) => !commandLine(String(child)).some((word) => /dynamic-provider|pulumi-resource-/.test(word)))
    .flatMap((child) => [...descendants(child), child]);
}

function signalIfThere(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // It ended by itself meanwhile.
  }
}

async function list(kind: string, ...args: string[]): Promise<string[]> {
  const { stdout } = await execa("podman", args);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((one) => `${kind} ${one}`);
}

function commandLine(id: string): string[] {
  return read(`/proc/${id}/cmdline`).split("\0").filter(Boolean);
}

/** The file, or nothing once its process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
