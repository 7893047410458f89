/** The verbs that show something, run as a person would: what they say, and that they leave everything as it is. */

import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { kubernetesVersions } from "../../cloud/spec";
import { findContainerEngine } from "../../setup/container-engine";
import { hasImage } from "../../setup/engine-images";
import { machineImageReference } from "../../setup/machine-image";
import type { StoredImage } from "../../setup/machine-images";
import { CommandProject } from "./command-project";

const stateFile = (stack: string) => `.pulumi-state/.pulumi/stacks/tiny/${stack}.json`;

describe("list", () => {
  const project = new CommandProject();
  const listed = async (environment?: Record<string, string>) => {
    const { exitCode, stdout, stderr } = await project.run(["list", "-o", "json"], environment);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout) as Record<string, unknown>[];
  };
  const lock = ".pulumi-state/.pulumi/locks/organization/tiny/local/one.json";
  const writeLock = (pid: number) =>
    project.write(lock, JSON.stringify({ pid, hostname: hostname(), username: "ann", timestamp: new Date() }));

  afterAll(() => project.remove());

  test("of a project in which nothing was made yet says so, and makes nothing", async () => {
    project.write("stacks/Pulumi.dev.yaml", "config:\n  tiny:cloud: local\n  tiny:kubernetesVersion: 1.37.2\n");
    const before = readdirSync(project.root);
    expect(await listed()).toEqual([
      expect.objectContaining({ name: "dev", cloud: "local", kubernetesVersion: "1.37.2", state: "none" }),
      expect.objectContaining({ name: "local", cloud: null, state: "none", resources: null, changed: null }),
    ]);
    expect(existsSync(project.path(".pulumi-state"))).toBe(false);
    expect(readdirSync(project.root)).toEqual(before);
    expect(project.calls()).toEqual([]);
  });

  test("tells what is recorded, without starting Pulumi", async () => {
    expect((await project.up()).exitCode).toBe(0);
    const calls = project.calls().length;
    const [, local] = await listed();
    expect(local).toMatchObject({ name: "local", state: "made", resources: 2, nodes: 0, pendingOperations: 0 });
    expect(Date.now() - Date.parse(String(local?.changed))).toBeLessThan(60_000);
    const { stdout } = await project.run(["list"]);
    expect(stdout).toMatch(/^STACK .*\ndev .* none\nlocal .* 2 resources\n?$/);
    expect((await project.run(["list", "-o", "yaml"])).stdout).toContain("  state: made\n");
    expect(project.calls()).toHaveLength(calls);
  });

  test("tells who works on a stack, and what a killed run left", async () => {
    writeLock(process.pid);
    const [, inUse] = await listed();
    expect(inUse).toMatchObject({ state: "in use", resources: 2 });
    expect(inUse?.inUse).toMatch(
      new RegExp(`^ann has been running Pulumi on it since .* \\(process ${process.pid} on ${hostname()}\\)$`),
    );
    // No process has this id.
    writeLock(2 ** 22 + 1);
    expect((await listed())[1]).toMatchObject({ state: "interrupted", resources: 2, inUse: null });
    expect(project.locks()).toEqual(["one.json"]);
  });

  test("tells a state that was cut short and settings that are no YAML, and lists the others", async () => {
    const text = project.read(stateFile("local"));
    project.write(stateFile("local"), text.slice(0, text.length / 2));
    project.write("stacks/Pulumi.dev.yaml", "config: [\n");
    const [dev, local] = await listed();
    expect(dev).toMatchObject({
      cloud: null,
      problem: expect.stringMatching(/Pulumi\.dev\.yaml cannot be read: .*line/),
    });
    expect(local).toMatchObject({ state: "cut short", resources: null });
  });

  test("asks Pulumi where the state is no folder, also of stacks that have no settings here", async () => {
    const service = await pulumiService([
      { orgName: "ann", projectName: "tiny", stackName: "far", lastUpdate: 1_800_000_000, resourceCount: 5 },
    ]);
    try {
      const stacks = await listed({ PULUMI_BACKEND_URL: service.url, PULUMI_ACCESS_TOKEN: "a token" });
      expect(stacks.map(({ name, state }) => `${name}: ${state}`)).toEqual(["dev: none", "far: made", "local: none"]);
      expect(stacks[1]).toMatchObject({ resources: 5, nodes: null, changed: "2027-01-15T08:00:00.000Z" });
    } finally {
      service.stop();
    }
  });
});

/** As much of Pulumi's service as the CLI needs to list stacks. */
async function pulumiService(stacks: readonly object[]) {
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0];
    const answers: Record<string, unknown> = {
      "/api/user": { githubLogin: "ann", name: "Ann", organizations: [] },
      "/api/user/stacks": { stacks },
      "/api/capabilities": { capabilities: [] },
    };
    const answer = answers[path ?? ""];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { code: 404, message: "not found" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

describe("image", () => {
  const project = new CommandProject();
  const repository = resolve(__dirname, "../..");
  // The image that machines of all tests start from; their cache, so that its use is noted there.
  const run = (...args: string[]) =>
    project.run(["image", ...args, "--cwd", repository], { KUBICORN_CACHE: undefined, PULUMI_HOME: undefined });

  afterAll(() => project.remove());

  test("list shows the current one, and build finds it there", async ({ skip }) => {
    skip(!(await machineImageIsHere()), "there is no machine image on this computer");
    const { exitCode, stdout, stderr } = await run("list", "-o", "json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const current = (JSON.parse(stdout) as StoredImage[]).filter(({ current }) => current);
    expect(current).toMatchObject([{ kubernetesVersion: kubernetesVersions[0], stacks: expect.any(Array) }]);
    expect(current[0]?.sizeGiB).toBeGreaterThan(0.2);
    const built = await run("build", "--kubernetes-version", kubernetesVersions[0], "-o", "json");
    expect(built).toMatchObject({
      exitCode: 0,
      stderr: `The machine image ${current[0]?.reference} is there already.`,
    });
    expect(JSON.parse(built.stdout)).toMatchObject({ ...current[0], built: false });
    expect((await run("list")).stdout).toMatch(new RegExp(`^TAG .*\n(.*\n)*${current[0]?.tag} .* yes `));
  });

  test("refuses a version of which no image can be made, before it asks an engine", async () => {
    const told = await project.run(["image", "build", "--kubernetes-version", "1.2.3"], { PATH: "/nonexistent" });
    expect(told).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Kubernetes 1.2.3: 1.") });
  });
});

/** Making it would take minutes. */
async function machineImageIsHere(): Promise<boolean> {
  const engine = await findContainerEngine().catch(() => undefined);
  return engine !== undefined && hasImage(engine, await machineImageReference(kubernetesVersions[0]));
}

describe("graph", () => {
  const project = new CommandProject();
  // No Pulumi CLI, no container engine.
  const graph = (...args: string[]) => project.run(["graph", ...args], { PATH: "/nonexistent" });

  afterAll(() => project.remove());

  test("shows what the profile describes before any run, asks nobody and writes nothing", async () => {
    project.write("Pulumi.local.yaml", "config:\n  tiny:pools:\n    - { name: workers, count: 2 }\n");
    const before = [readdirSync(project.root), project.changes()];
    const { exitCode, stdout, stderr } = await graph();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Cluster of the stack local\n├─ image +local:Image\n/);
    expect(stdout).toMatch(
      /\n├─ NodePool workers\n(│ .*\n)*│ {2}└─ workers-2-node +guest:Node +after .*workers-2-machine/,
    );
    expect([readdirSync(project.root), project.changes()]).toEqual(before);
  });

  test("holds no value of any part, in whatever form", async () => {
    const { parts } = JSON.parse((await graph("-o", "json")).stdout) as { parts: object[] };
    const fields = new Set(parts.flatMap((part) => Object.keys(part)));
    expect([...fields].sort()).toEqual(["component", "kind", "name", "needs", "waitsFor"]);
    expect((await graph("-o", "yaml")).stdout).toMatch(/^stack: local\nparts:\n {2}- name: image\n/);
    expect((await graph("-o", "svg")).stdout).toMatch(/^<svg .*[\s\S]*>workers-2-node<[\s\S]*<\/svg>$/);
  });

  test("refuses what up would refuse, in the same words", async () => {
    project.write(
      "Pulumi.local.yaml",
      "config:\n  tiny:pools:\n    - { name: workers, count: -2 }\n  tiny:cluod: local\n",
    );
    const { exitCode, stdout, stderr } = await graph();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/pools\[0\]\.count.*-2/);
    expect(stderr).toMatch(/cluod/);
  });
});
