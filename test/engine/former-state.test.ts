/**
 * The state of a real cluster as an earlier version of this package wrote it: the present one must read it, and must not
 * replace anything because of it. The cluster itself is gone, and its passphrase is the tests' own.
 */
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Project } from "./project";

const states = join(__dirname, "states");

describe.each(readdirSync(states))("a state of %s", (day) => {
  let project: Project;

  beforeAll(() => {
    project = new Project("program");
    const backend = fileURLToPath(project.environment.PULUMI_BACKEND_URL ?? "");
    const state = join(backend, ".pulumi/stacks/pulumi-kubicorn/local.json.gz");
    const own = join(project.folder, "stacks/Pulumi.local.yaml");
    for (const folder of [dirname(state), dirname(own)]) {
      mkdirSync(folder, { recursive: true });
    }
    copyFileSync(join(states, day, "local.json.gz"), state);
    copyFileSync(join(states, day, "Pulumi.local.yaml"), own);
  });

  afterAll(() => project.remove());

  test("previews without a replacement, a creation or a removal", async () => {
    const { exitCode, output } = await project.run(["preview", "-s", "local"]);
    expect(exitCode, output).toBe(0);
    expect(output).not.toMatch(/to (create|replace|delete)/);
    expect(output).toMatch(/ unchanged/);
  });
});
