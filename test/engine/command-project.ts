/**
 * A small project in a temporary git repository, and the `kubicorn` command run in it as a person would.
 * The CLI is the real one behind a script that writes down each call.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { execa, execaSync } from "execa";
import { shellQuoted } from "../../bin/env";

const repository = resolve(__dirname, "../..");
const command = join(repository, "entry/command.cjs");

/** Two things that take a while to make, beside each other, and look for the interrupt file where told to. */
const program = `
const pulumi = require("@pulumi/pulumi");
const provider = {
  async create() {
    const { appendFileSync, existsSync } = require("fs");
    const { LOG, TENTHS, DEAF, KUBICORN_INTERRUPT_FILE } = process.env;
    appendFileSync(LOG, "begun\\n");
    for (let tenth = 0; tenth < Number(TENTHS || 0); tenth += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (!DEAF && KUBICORN_INTERRUPT_FILE && existsSync(KUBICORN_INTERRUPT_FILE)) {
        appendFileSync(LOG, "interrupted\\n");
        break;
      }
    }
    appendFileSync(LOG, "made\\n");
    return { id: "thing", outs: {} };
  },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "one", {});
new Thing(provider, "two", {});
if (process.env.BROKEN) {
  throw new Error("the program is broken");
}
exports.kubeconfig = pulumi.secret(process.env.KUBECONFIG_TEXT || "apiVersion: v1\\n");
`;

export interface Run {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export class CommandProject {
  readonly root: string;
  readonly folder: string;
  private readonly bin: string;

  /** @param names what the folders are called: the one above the project begins with the first */
  constructor(names: readonly [string, string] = ["kubicorn command é ", "it's a project"]) {
    this.root = mkdtempSync(join(tmpdir(), names[0]));
    this.folder = join(this.root, names[1]);
    this.bin = join(this.root, "bin");
    mkdirSync(join(this.folder, "node_modules"), { recursive: true });
    symlinkSync(join(repository, "node_modules/@pulumi"), join(this.folder, "node_modules/@pulumi"));
    this.write("Pulumi.yaml", "name: tiny\nruntime: nodejs\nmain: index.js\nstackConfigDir: stacks\n");
    this.write("Pulumi.local.yaml", "config:\n  # how many\n  tiny:count: 2\n");
    this.write("package.json", '{ "name": "tiny" }\n');
    this.write("index.js", program);
    this.write(".gitignore", readFileSync(join(repository, ".gitignore"), "utf8"));
    this.git("init", "--quiet");
    this.git("add", ".");
    this.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "all");
    this.installRecordingCli();
    mkdirSync(join(this.root, "tmp"));
  }

  get environment(): Record<string, string | undefined> {
    const theirs = Object.keys(process.env).filter((name) => /^(PULUMI|KUBICORN|KUBECONFIG)/.test(name));
    return {
      ...Object.fromEntries(theirs.map((name) => [name, undefined])),
      PATH: `${this.bin}${delimiter}${process.env.PATH}`,
      PULUMI_HOME: join(this.root, "home"),
      KUBICORN_CACHE: join(this.root, "cache"),
      LOG: this.path("../log"),
      TMPDIR: join(this.root, "tmp"),
    };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : "";
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  /**
   * Runs the command without a terminal.
   *
   * @param shell what a shell does around it, where "$@" is the command
   */
  start(args: readonly string[], environment: Record<string, string | undefined> = {}, shell = 'exec "$@"') {
    return execa("/bin/sh", ["-c", shell, "sh", process.execPath, command, ...args], {
      cwd: this.folder,
      env: { ...this.environment, ...environment },
      extendEnv: true,
      stdin: "ignore",
      reject: false,
      // As after `setsid`: no terminal, whether the tests have one or not.
      detached: true,
      cleanup: true,
    });
  }

  async run(args: readonly string[], environment?: Record<string, string | undefined>, shell?: string): Promise<Run> {
    const { exitCode, stdout, stderr } = await this.start(args, environment, shell);
    return { exitCode, stdout, stderr };
  }

  up = (environment?: Record<string, string>) => this.run(["up", "--yes", "--skip-preview"], environment);

  /** The calls of the CLI so far, each as its arguments. */
  calls(): string[] {
    const lines = this.read("../calls").trim().split("\n");
    return lines.filter((line) => line !== "" && line !== "version");
  }

  log(): string[] {
    return this.read("../log").trim().split("\n");
  }

  /** The stack's state as it stands on the disk. */
  state(): { resources: number; pending: number } {
    const latest = JSON.parse(this.read(".pulumi-state/.pulumi/stacks/tiny/local.json")).checkpoint.latest ?? {};
    return { resources: latest.resources?.length ?? 0, pending: latest.pending_operations?.length ?? 0 };
  }

  locks(): string[] {
    const folder = this.path(".pulumi-state/.pulumi/locks/organization/tiny/local");
    return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  }

  /** kill -9 of every command run here, of Pulumi and of its plugins, which have process groups of their own. */
  killAll(): void {
    const ours = readdirSync("/proc").filter(
      (name) => /^\d+$/.test(name) && environmentOf(name).includes(`LOG=${this.environment.LOG}\0`),
    );
    for (const signal of ["SIGSTOP", "SIGKILL"]) {
      for (const pid of ours) {
        process.kill(Number(pid), signal);
      }
    }
  }

  /** What git sees as changed or new. */
  changes(): string {
    return this.git("status", "--porcelain");
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private git(...args: string[]): string {
    return execaSync("git", args, { cwd: this.folder, env: { GIT_CONFIG_GLOBAL: "/dev/null" } }).stdout;
  }

  private installRecordingCli(): void {
    const real = (process.env.PATH ?? "").split(delimiter).find((folder) => existsSync(join(folder, "pulumi")));
    if (!real) {
      throw new Error("the Pulumi CLI is not on PATH");
    }
    mkdirSync(this.bin);
    for (const name of readdirSync(real).filter((file) => file.startsWith("pulumi-"))) {
      symlinkSync(join(real, name), join(this.bin, name));
    }
    const calls = join(this.root, "calls");
    const [log, program] = [calls, join(real, "pulumi")].map(shellQuoted);
    writeFileSync(join(this.bin, "pulumi"), `#!/bin/sh\necho "$*" >>${log}\nexec ${program} "$@"\n`);
    chmodSync(join(this.bin, "pulumi"), 0o755);
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}
