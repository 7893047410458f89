/**
 * The repository's own program in a temporary folder, used as its user would: by the `kubicorn` command and kubectl.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { stringify } from "yaml";

const repository = resolve(__dirname, "../..");

export class ClusterProject {
  readonly folder = mkdtempSync(join(tmpdir(), "kubicorn e2e é "));
  readonly kubeconfigFile = join(this.folder, "kubeconfig");

  /** The kubectl that comes with the Kubernetes programs; it is there once a cluster was made. */
  kubectlProgram = "kubectl";

  constructor() {
    for (const file of ["index.ts", "tsconfig.json", "package.json", "Pulumi.yaml", "Pulumi.local.yaml"]) {
      cpSync(join(repository, file), join(this.folder, file));
    }
    for (const name of ["entry", "node_modules"]) {
      symlinkSync(join(repository, name), join(this.folder, name));
    }
  }

  /** The profile of the stack: what the person writes. */
  configure(settings: Record<string, unknown>): void {
    const config = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`pulumi-kubicorn:${key}`, value]),
    );
    const file = join(this.folder, "stacks/Pulumi.local.yaml");
    const own = readdirSync(this.folder).includes("stacks") ? readFileSync(file, "utf8") : "";
    const salt = /^encryptionsalt: .*$/m.exec(own)?.[0] ?? "";
    mkdirSync(join(this.folder, "stacks"), { recursive: true });
    writeFileSync(own ? file : join(this.folder, "Pulumi.local.yaml"), `${salt}\n${stringify({ config })}`);
  }

  /** Starts a verb; its whole output can be read while it runs. */
  start(verb: string, ...args: string[]) {
    return execa("node", [join(repository, "entry/command.cjs"), verb, ...args], {
      cwd: this.folder,
      all: true,
      reject: false,
      stdin: "ignore",
    });
  }

  /** Runs a verb and gives its whole output; a failure throws it. */
  async run(verb: string, ...args: string[]): Promise<string> {
    const { exitCode, all } = await this.start(verb, ...args);
    if (exitCode !== 0) {
      throw new Error(`kubicorn ${verb} ended with exit code ${exitCode}:\n${all}`);
    }
    return all;
  }

  /** Writes the kubeconfig, which kubectl uses from then on. */
  async fetchKubeconfig(): Promise<string> {
    const { stdout } = await execa("node", [join(repository, "entry/command.cjs"), "kubeconfig"], { cwd: this.folder });
    writeFileSync(this.kubeconfigFile, stdout, { mode: 0o600 });
    return stdout;
  }

  async kubectl(args: readonly string[], input = ""): Promise<string> {
    const { stdout } = await execa(this.kubectlProgram, ["--kubeconfig", this.kubeconfigFile, ...args], { input });
    return stdout;
  }

  async kubectlJson<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.kubectl([...args, "-o", "json"])) as T;
  }

  /** All text that the engine's state and the command leave on the disk. */
  leftOnDisk(): string {
    const backend = join(this.folder, ".pulumi-state");
    return readdirSync(backend, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n");
  }

  /** Takes the cluster down, tells where that fails, and removes the folder. */
  async takeDown(): Promise<void> {
    const { exitCode, all } = await this.start("down", "--yes", "--skip-preview");
    if (exitCode !== 0) {
      console.error(all);
    }
    this.remove();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Looks until the answer is what is wanted; the last answer or failure is in the error. */
export async function eventually<T>(
  what: string,
  seconds: number,
  look: () => Promise<T>,
  wanted: (found: T) => boolean,
) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look().catch((error: Error) => error);
    if (!(found instanceof Error) && wanted(found)) {
      return found;
    }
    if (Date.now() > end) {
      const last = found instanceof Error ? found.message : JSON.stringify(found);
      throw new Error(`waited ${seconds} s in vain until ${what}; last: ${last}`);
    }
    await new Promise((next) => setTimeout(next, 250));
  }
}
