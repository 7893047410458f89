/**
 * The real program and its configuration on the real engine, as far as a preview goes: nothing is made here.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Project } from "./project";

let project: Project;

beforeAll(async () => {
  project = await new Project("program").init();
});

afterAll(() => project.remove());

beforeEach(() => configure({}));

/** Writes the stack's own configuration. */
function configure(settings: Record<string, unknown>): void {
  const config = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`pulumi-kubicorn:${key}`, value]));
  writeFileSync(join(project.folder, "stacks/Pulumi.dev.yaml"), JSON.stringify({ ...project.stackFile(), config }));
}

test("index.ts runs, and not the library that package.json names", async () => {
  const { exitCode, output } = await project.preview();
  expect(exitCode, output).toBe(0);
  expect(output).toMatch(/pulumi-kubicorn:index:Cluster cluster create/);
  expect(output).toMatch(/local:Machine cluster-workers-2-machine create/);
  expect(output).not.toMatch(/delete|warning/);
});

test("a worker more previews as three creates more", async () => {
  const creates = (output: string) => Number(output.match(/\+ (\d+) to create/)?.[1]);
  configure({ pools: [{ name: "workers", count: 1 }] });
  const one = await project.preview();
  configure({ pools: [{ name: "workers", count: 2 }] });
  const two = await project.preview();
  expect(creates(two.output) - creates(one.output)).toBe(3);
});

test("settings made with `pulumi config set --path` are taken as they are meant", async () => {
  for (const [path, value] of [
    ["pools[0].name", "batch"],
    ["pools[0].count", "2"],
    ["pools[0].labels.example", "yes"],
    ["controlPlane.schedulable", "true"],
  ] as const) {
    const { exitCode, output } = await project.run(["config", "set", "-s", "dev", "--path", path, value]);
    expect(exitCode, output).toBe(0);
  }
  const { exitCode, output } = await project.preview();
  expect(exitCode, output).toBe(0);
  expect(output).toContain("cluster-batch-2-machine create");
  expect(output).not.toContain("cluster-workers-1");
});

describe("a configuration that is not allowed", () => {
  test("is told whole, with paths, values and what is allowed, without a stack trace", async () => {
    configure({
      kubernetesVersion: "1.20.0",
      pools: [
        { name: "Workers", count: 2 },
        { name: "b", count: -1 },
      ],
      network: { pods: "10.244.0.0/16", services: "10.244.0.0/20" },
      wrokers: 3,
    });
    const { exitCode, output } = await project.preview();
    expect(exitCode).not.toBe(0);
    expect(output).toContain('kubernetesVersion: "1.20.0" is not allowed; one of 1.37.2 is allowed');
    expect(output).toContain('pools[0].name: "Workers" is not allowed; lower-case letters');
    expect(output).toContain("pools[1].count: -1 is not allowed; a whole number from 0 to 250 is allowed");
    expect(output).toContain('wrokers: "3" is not allowed; there is no such setting');
    expect(output).toContain("Nothing was changed.");
    expect(output).not.toMatch(/\n\s+at /);
    expect(output).toContain("network.services: ");
    expect(output).not.toMatch(/kubicorn:index:Cluster/);
  });

  test("of values of the wrong kind is told whole too", async () => {
    configure({ cloud: 5, pools: "three", controlPlane: [1], network: 7 });
    const { exitCode, output } = await project.preview();
    expect(exitCode).not.toBe(0);
    expect(output).toContain("The cluster's configuration has 4 values that are not allowed:");
    expect(output).toContain('pools: "three" is not allowed; a list of pools is expected');
    expect(output).toContain("network: 7 is not allowed; settings by name are expected, as in { pods: 10.244.0.0/16 }");
  });

  test("of one wrong word is told in one line", async () => {
    configure({ cloud: "mars" });
    const { output } = await project.preview();
    expect(output).toContain("The cluster's configuration has 1 value that is not allowed:");
    expect(output).toContain('cloud: "mars" is not allowed; local is allowed');
  });
});
