/** What the machine image is made from: hashes of it, and that its parts agree with each other. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { flannelVersion } from "../../bootstrap/pod-network";
import { kubernetesVersions } from "../../cloud/spec";
import { seedFolder } from "../../providers/local/seed";
import { ensureMachineImage, machineImageReference } from "../../setup/machine-image";
import { packageRoot } from "../../setup/package-root";
import { recipeHash } from "../../setup/recipe-hash";
import { EngineProgram } from "../doubles/engine-program";

const sources = join(packageRoot(), "images", "node");
const source = (...path: string[]) => readFileSync(join(sources, ...path), "utf8");

describe("a recipe's hash", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kubicorn-recipe-"));
    writeFileSync(join(folder, "a"), "one");
    writeFileSync(join(folder, "b"), "two");
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("changes with every name, content and word, and with nothing else", async () => {
    const hashes = [await recipeHash([folder])];
    writeFileSync(join(folder, "b"), "two");
    expect(await recipeHash([folder])).toBe(hashes[0]);
    hashes.push(await recipeHash([folder], ["word"]), await recipeHash([join(folder, "a")]));
    writeFileSync(join(folder, "b"), "three");
    hashes.push(await recipeHash([folder]));
    writeFileSync(join(folder, "c"), "");
    hashes.push(await recipeHash([folder]));
    expect(new Set(hashes).size).toBe(5);
    expect(hashes.every((hash) => /^[0-9a-f]{8}$/.test(hash))).toBe(true);
  });
});

describe("the machine image", () => {
  it("that is there already costs two calls of the engine", async () => {
    const reference = await machineImageReference("1.37.2");
    expect(reference).toMatch(/^localhost\/kubicorn-machine:1\.37\.2-[0-9a-f]{8}$/);
    vi.stubEnv("KUBICORN_ENGINE", "podman");
    vi.stubEnv("KUBICORN_CACHE", mkdtempSync(join(tmpdir(), "kubicorn-images-")));
    const engine = new EngineProgram("podman", [
      { to: "version" },
      { to: `reference=${reference}`, stdout: "75409ecf\n" },
    ]);
    try {
      const step = { say: () => undefined, progress: () => undefined, signal: new AbortController().signal };
      expect(await ensureMachineImage({ kubernetesVersion: "1.37.2" }, step)).toEqual({ reference, engine: "podman" });
      expect(engine.calls).toHaveLength(2);
    } finally {
      rmSync(process.env.KUBICORN_CACHE ?? "", { recursive: true });
      engine.remove();
      vi.unstubAllEnvs();
    }
  });

  it("is built at the newest version that the configuration allows, with the pod network's own version of flannel", () => {
    expect(source("programs", "kubernetes", "go.mod")).toContain(`k8s.io/kubernetes v${kubernetesVersions[0]}\n`);
    expect(source("programs", "addons", "go.mod")).toContain(`github.com/flannel-io/flannel v${flannelVersion}\n`);
  });

  it("looks for a machine's user data where the engine puts it", () => {
    expect(source("build", "assemble.sh")).toContain(`ln -s ${seedFolder} /var/lib/cloud/seed/nocloud`);
  });

  it("starts the SSH server between the users and the person's own commands", () => {
    const { cloud_init_modules: modules } = parse(source("rootfs", "etc", "cloud", "cloud.cfg.d", "90-kubicorn.cfg"));
    const order = ["write-files", "users-groups", "ssh", "scripts-per-boot", "runcmd", "scripts-user"];
    expect(modules.filter((name: string) => order.includes(name))).toEqual(order);
  });
});
