/** The project, its backend, and the stack's configuration. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseBackend } from "../../bin/backend";
import { applyProfile, mergeConfig } from "../../bin/profile";
import { findProject, type Project } from "../../bin/project";
import { requireStackName } from "../../bin/stack";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubicorn-command-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const projectFile = (text: string) => writeFileSync(join(folder, "Pulumi.yaml"), text);

describe("findProject", () => {
  it.each([
    ["name: a\nruntime: nodejs\n", { name: "a" }],
    ["name: a\nstackConfigDir: stacks\n", { name: "a", stacks: "stacks" }],
    ["name: 'a'\nstackConfigDir: \"x y\" # here\n", { name: "a", stacks: "x y" }],
    ["name: a\nbackend:\n  url: s3://bucket\n", { name: "a", backend: "s3://bucket" }],
    ["{name: a, stackConfigDir: b}", { name: "a", stacks: "b" }],
  ])("reads %j", async (text, { name, stacks = "", ...rest }: { name: string; stacks?: string; backend?: string }) => {
    projectFile(text);
    mkdirSync(join(folder, "deep", "er"), { recursive: true });
    expect(await findProject(join(folder, "deep", "er"))).toEqual({
      name,
      folder,
      stackFiles: join(folder, stacks),
      ...rest,
    });
  });

  it.each([
    ["runtime: nodejs", /has no name/],
    ["a: [", /cannot be read/],
  ])("refuses %j", async (text, message) => {
    projectFile(text);
    await expect(findProject(folder)).rejects.toThrow(message);
  });

  it("says where it looked when there is none", async () => {
    await expect(findProject(folder)).rejects.toThrow(/There is no Pulumi.yaml in .*or name it with --cwd/s);
  });
});

describe("chooseBackend", () => {
  const project: Project = { name: "a", folder: "/some folder/50% #1?", stackFiles: "/s" };
  const nobody = { PULUMI_HOME: "/nonexistent" };

  it("is a folder of the project where the person has chosen none", () => {
    expect(chooseBackend(project, nobody)).toEqual({
      url: "file:///some folder/50%25 %231%3F/.pulumi-state",
      own: true,
      folder: "/some folder/50% #1?/.pulumi-state",
    });
  });

  it.each([
    ["s3://bucket?region=x", undefined],
    ["https://api.pulumi.com", undefined],
    ["file:///a%20b", "/a b"],
    ["file://~", homedir()],
    ["file://~/x", join(homedir(), "x")],
    ["file://./x?no_tmp_dir=true", "/some folder/50% #1?/x"],
  ])("is what PULUMI_BACKEND_URL says: %s", (url, expected) => {
    const { own, folder: found } = chooseBackend(project, { ...nobody, PULUMI_BACKEND_URL: url });
    expect({ own, found }).toEqual({ own: false, found: expected });
  });

  it("is the project's, or the one that the person is logged in to", () => {
    expect(chooseBackend({ ...project, backend: "gs://b" }, nobody).url).toBe("gs://b");
    expect(chooseBackend(project, { ...nobody, PULUMI_ACCESS_TOKEN: "x" }).own).toBe(false);
    writeFileSync(join(folder, "credentials.json"), '{"current":"s3://mine"}');
    expect(chooseBackend(project, { PULUMI_HOME: folder }).url).toBe("s3://mine");
    writeFileSync(join(folder, "credentials.json"), '{"current":""}');
    expect(chooseBackend(project, { PULUMI_HOME: folder }).own).toBe(true);
    writeFileSync(join(folder, "credentials.json"), "not json");
    expect(chooseBackend(project, { PULUMI_HOME: folder }).own).toBe(true);
  });
});

describe("requireStackName", () => {
  it.each(["local", "a.b_c-1", "organization/p/local", "ada/local"])("takes %j", (name) => {
    expect(() => requireStackName(name)).not.toThrow();
  });

  it.each(["", "a b", "../x", "..", "a/", "/a", "a/b/c/d", "\u00e9", "a:b", "x".repeat(101)])("refuses %j", (name) => {
    expect(() => requireStackName(name)).toThrow(/cannot be a stack's name.*Nothing was changed\.$/);
  });
});

describe("applyProfile", () => {
  it.each([
    [
      "config:\n  a: [1\n  b: 2\n",
      /Pulumi\.dev\.yaml cannot be read: .* at line \d+, column \d+\. Nothing was changed\.$/,
    ],
    ["config:\n  a: 1\n a: 2\n", /Pulumi\.dev\.yaml cannot be read: .* at line 3, column 1/],
    ["config: {a: 1}\nconfig: {a: 2}\n", /Map keys must be unique at line 2/],
    ["- a\n", /Pulumi\.dev\.yaml holds no settings/],
    ["config:\np:pools: []\n", /Nothing reads p:pools in .*Pulumi\.dev\.yaml: settings stand under "config:"/],
    ["Config:\n  p:pools: []\n", /Nothing reads Config in/],
    ["confg:\n  p:pools: []\n", /Nothing reads confg in/],
    ["config: [a]\n", /What stands under "config:" in .* must be settings/],
  ])("refuses the profile %j with its place, and writes nothing", async (text, message) => {
    writeFileSync(join(folder, "Pulumi.dev.yaml"), text);
    const project = { name: "p", folder, stackFiles: join(folder, "stacks") };
    const stack = { name: "dev", project, backend: { url: "", own: true, folder } };
    await expect(applyProfile(stack)).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual(["Pulumi.dev.yaml"]);
  });
});

describe("mergeConfig", () => {
  it("carries over what changed in the profile, and keeps what the person has set", () => {
    const before = { cloud: "local", pools: [{ count: 2 }], gone: 1, mine: 1 };
    const after = { cloud: "local", pools: [{ count: 3 }], mine: 2, fresh: true };
    const own = { cloud: "local", pools: [{ count: 2 }], gone: 1, mine: 7, other: "x" };
    expect(mergeConfig(before, after, own)).toEqual({
      merged: { cloud: "local", pools: [{ count: 3 }], mine: 7, other: "x", fresh: true },
      kept: ["mine"],
    });
  });

  it("does not bring back what the person has removed, nor name what has come to be the same", () => {
    expect(mergeConfig({ a: 1, b: 1 }, { a: 1, b: 2 }, { b: 2 })).toEqual({ merged: { b: 2 }, kept: [] });
  });

  it("takes the whole profile where nothing was applied yet", () => {
    expect(mergeConfig({}, { a: 1, b: 2 }, { b: 3 })).toEqual({ merged: { a: 1, b: 3 }, kept: ["b"] });
  });

  it("changes nothing where the profile did not change, whatever the person did", () => {
    const config = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(config, config, (profile, own) => {
        expect(mergeConfig(profile, profile, own)).toEqual({ merged: own, kept: [] });
      }),
    );
  });
});
