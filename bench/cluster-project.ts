/**
 * The repository's own program in a folder of its own, run by the `kubicorn` command and by plain Pulumi.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import type { Command } from "./measure";

export const root = join(__dirname, "..");

export class ClusterProject {
  constructor(private readonly folder: string) {
    mkdirSync(folder);
    for (const file of ["index.ts", "tsconfig.json", "package.json", "Pulumi.yaml", "Pulumi.local.yaml"]) {
      cpSync(join(root, file), join(folder, file));
    }
    linkModules(folder);
    symlinkSync(join(root, "entry"), join(folder, "entry"));
  }

  async kubicorn(...args: string[]): Promise<string> {
    const { stdout } = await execa("node", [join(root, "entry/command.cjs"), ...args], { cwd: this.folder });
    return stdout;
  }

  /** Brings the pool `workers` to that many machines, and gives the seconds that `up` took. */
  async scale(workers: number): Promise<number> {
    const pools = [{ name: "workers", count: workers }];
    writeFileSync(
      join(this.folder, "Pulumi.local.yaml"),
      JSON.stringify({ config: { "pulumi-kubicorn:cloud": "local", "pulumi-kubicorn:pools": pools } }),
    );
    const began = Date.now();
    await this.kubicorn("up", "--yes", "--skip-preview");
    return (Date.now() - began) / 1000;
  }

  /** As `scale`; gives the calls of the container engine and of the Kubernetes API, those of a wait counted once. */
  async callsOfScaling(workers: number): Promise<number> {
    const file = join(this.folder, "calls");
    writeFileSync(file, "");
    const former = process.env.NODE_OPTIONS;
    Object.assign(process.env, {
      NODE_OPTIONS: `--require ${JSON.stringify(join(__dirname, "count-calls.cjs"))}`,
      KUBICORN_BENCH_CALLS: file,
    });
    try {
      await this.scale(workers);
    } finally {
      process.env.NODE_OPTIONS = former ?? "";
    }
    const calls = new Set(readFileSync(file, "utf8").split("\n").filter(Boolean));
    rmSync(file);
    return calls.size;
  }

  /** The machine image, made before anything is timed. */
  async image(): Promise<string> {
    await this.kubicorn("up", "--yes", "--skip-preview");
    const image = (await this.resources()).find(({ type }) => type.endsWith("local:Image"));
    await this.kubicorn("down", "--yes");
    return String(image?.outputs?.reference);
  }

  async dynamicResources(): Promise<number> {
    return (await this.resources()).filter(({ type }) => type.startsWith("pulumi-nodejs:")).length;
  }

  async pulumi(): Promise<(...args: string[]) => Command> {
    const environment = await this.environment();
    return (...args) => ({ program: "pulumi", args: [...args, "-s", "local"], cwd: this.folder, environment });
  }

  private async resources(): Promise<{ type: string; outputs?: Record<string, unknown> }[]> {
    const { stdout } = await execa("pulumi", ["stack", "export", "-s", "local"], {
      cwd: this.folder,
      env: await this.environment(),
    });
    return JSON.parse(stdout).deployment.resources;
  }

  private async environment(): Promise<Record<string, string>> {
    const shell = await execa("sh", ["-c", `${await this.kubicorn("env")}\nenv -0`]);
    return Object.fromEntries(
      shell.stdout
        .split("\0")
        .map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string])
        .filter(([name]) => name.startsWith("PULUMI") || name === "PATH"),
    );
  }
}

/** Gives a project's folder the modules that its program needs. */
export function linkModules(folder: string): void {
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@pulumi", "typescript", "ts-node"]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(root, join(folder, "node_modules/pulumi-kubicorn"));
}
