/**
 * A Pulumi project in a temporary folder, with a backend, a home and a passphrase of its own, run by the real CLI.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { parse } from "yaml";

const repository = resolve(__dirname, "../..");

export interface Run {
  readonly exitCode: number | undefined;
  /** Standard output and standard error, in the order they came. */
  readonly output: string;
}

export interface StateResource {
  readonly urn: string;
  readonly id?: string;
  readonly type: string;
  readonly inputs: Record<string, unknown>;
  readonly outputs: Record<string, unknown>;
  readonly initErrors?: string[];
}

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "kubicorn project é "));
  readonly world = join(this.folder, "world");
  private readonly backend = join(this.folder, "backend");

  /** @param program `memory`, the program of test/doubles/memory, or `program`, the repository's own */
  constructor(program: "memory" | "program") {
    if (program === "program") {
      for (const file of ["index.ts", "tsconfig.json", "package.json", "Pulumi.yaml"]) {
        cpSync(join(repository, file), join(this.folder, file));
      }
      symlinkSync(join(repository, "entry"), join(this.folder, "entry"));
    } else {
      cpSync(join(repository, "test/doubles", program), this.folder, { recursive: true });
      writeFileSync(join(this.folder, "Pulumi.yaml"), "name: project\nruntime: nodejs\nmain: index.js\n");
      writeFileSync(join(this.folder, "package.json"), '{ "name": "project" }');
    }
    for (const folder of [this.world, this.backend, join(this.folder, "node_modules")]) {
      mkdirSync(folder);
    }
    for (const name of ["@pulumi", "zod", "@grpc"]) {
      symlinkSync(join(repository, "node_modules", name), join(this.folder, "node_modules", name));
    }
    symlinkSync(repository, join(this.folder, "node_modules/pulumi-kubicorn"));
  }

  get environment(): Record<string, string> {
    return {
      PULUMI_BACKEND_URL: `file://${this.backend}`,
      PULUMI_HOME: join(this.folder, "home"),
      PULUMI_CONFIG_PASSPHRASE: "a passphrase",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      MEMORY_WORLD: this.world,
    };
  }

  /** Sets the model of the program in test/doubles/memory. */
  model(parts: Record<number, unknown>, outputs: Record<string, unknown> = {}): void {
    writeFileSync(join(this.folder, "model.json"), JSON.stringify({ parts, outputs }));
  }

  start(args: readonly string[], environment: Record<string, string> = {}, input = "") {
    return execa("pulumi", [...args, "--color", "never", "--non-interactive"], {
      cwd: this.folder,
      env: { ...this.environment, ...environment },
      input,
      all: true,
      reject: false,
      cleanup: true,
    });
  }

  async run(args: readonly string[], environment?: Record<string, string>): Promise<Run> {
    const { exitCode, all } = await this.start(args, environment);
    return { exitCode, output: all };
  }

  async init(): Promise<this> {
    const { exitCode, output } = await this.run(["stack", "init", "dev"]);
    if (exitCode !== 0) {
      throw new Error(output);
    }
    return this;
  }

  up = (environment?: Record<string, string>) => this.run(["up", "--yes", "--skip-preview", "-s", "dev"], environment);
  preview = () => this.run(["preview", "-s", "dev"]);
  refresh = (environment?: Record<string, string>) =>
    this.run(["refresh", "--yes", "--skip-preview", "-s", "dev"], environment);
  destroy = () => this.run(["destroy", "--yes", "--skip-preview", "-s", "dev"]);

  /** The resources in the backend's state file, as it stands on the disk. */
  state(): StateResource[] {
    return this.deployment().resources ?? [];
  }

  pendingOperations(): unknown[] {
    return this.deployment().pending_operations ?? [];
  }

  stateText(): string {
    return readFileSync(join(this.backend, ".pulumi/stacks/project/dev.json"), "utf8");
  }

  /** The lines that the things of test/doubles/memory wrote, in order. */
  log(): string[] {
    const file = join(this.world, "log.txt");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  }

  /** The stack's own file of the repository's program. */
  stackFile(): Record<string, unknown> {
    const file = join(this.folder, "stacks/Pulumi.dev.yaml");
    return existsSync(file) ? parse(readFileSync(file, "utf8")) : {};
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private deployment(): { resources?: StateResource[]; pending_operations?: unknown[] } {
    return JSON.parse(this.stateText()).checkpoint.latest ?? {};
  }
}
