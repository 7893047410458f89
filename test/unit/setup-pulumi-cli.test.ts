/** Finding the Pulumi CLI: on PATH, in the cache, by download. The download is served from loopback. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { execaSync } from "execa";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ensurePulumiCli } from "../../setup/pulumi-cli";
import { isNewEnoughPulumi, pulumiOnPath } from "../../setup/pulumi-on-path";

const systemPath = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !existsSync(join(folder, "pulumi")))
  .join(delimiter);

let folder: string;
let cache: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubicorn-cli-"));
  cache = join(folder, "cache");
  mkdirSync(cache);
  vi.stubEnv("KUBICORN_CACHE", cache);
  vi.stubEnv("PATH", systemPath);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder with a pulumi that answers with this version, and counts how often it is asked. */
function installation(name: string, version: string, programs = ["pulumi", "pulumi-language-nodejs"]): string {
  const bin = join(folder, name);
  mkdirSync(bin, { recursive: true });
  for (const program of programs) {
    writeFileSync(join(bin, program), `#!/bin/sh\necho asked >>"${join(folder, "asked")}"\necho ${version}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  return bin;
}

const onPath = (bin: string) => vi.stubEnv("PATH", `${bin}${delimiter}${systemPath}`);
const timesAsked = () => readFileSync(join(folder, "asked"), "utf8").trim().split("\n").length;

describe("pulumiOnPath", () => {
  it("takes one that is new enough, and asks it for its version only once", async () => {
    const bin = installation("bin", "v3.250.0");
    onPath(bin);
    expect(await pulumiOnPath(cache)).toEqual({ folder: bin, built: false });
    expect(await pulumiOnPath(cache)).toEqual({ folder: bin, built: false });
    expect(timesAsked()).toBe(1);
  });

  it("asks again when another one stands there", async () => {
    onPath(installation("bin", "v3.250.0"));
    await pulumiOnPath(cache);
    onPath(installation("other", "v3.100.0"));
    expect(await pulumiOnPath(cache)).toBeUndefined();
  });

  it("takes one whose program is a link, with the language host beside the real one", async () => {
    const real = installation("real", "v3.274.1");
    mkdirSync(join(folder, "bin"));
    symlinkSync(join(real, "pulumi"), join(folder, "bin", "pulumi"));
    onPath(join(folder, "bin"));
    expect(await pulumiOnPath(cache)).toEqual({ folder: join(folder, "bin"), built: false });
  });

  it("passes over one without a language host, one that is too old, and our own", async () => {
    onPath(installation("bare", "v3.274.1", ["pulumi"]));
    expect(await pulumiOnPath(cache)).toBeUndefined();
    onPath(installation("old", "v3.10.0"));
    expect(await pulumiOnPath(cache)).toBeUndefined();
    onPath(installation("cache/pulumi-3.274.1", "v3.274.1"));
    expect(await pulumiOnPath(cache)).toBeUndefined();
  });

  it.each([
    ["v3.274.1", true],
    ["3.248.0-alpha.1", true],
    ["v4.0.0", true],
    ["v3.247.9", false],
    ["v2.25.0", false],
    ["", false],
  ])("version %s: %s", (version, enough) => {
    expect(isNewEnoughPulumi(version)).toBe(enough);
  });
});

describe("ensurePulumiCli", () => {
  let server: Server;
  let releases: string;
  let archive: Buffer;
  let checksum: string;

  beforeEach(async () => {
    installation("release/pulumi", "v3.274.1");
    execaSync("tar", ["-czf", join(folder, "archive"), "-C", join(folder, "release"), "pulumi"]);
    archive = readFileSync(join(folder, "archive"));
    checksum = createHash("sha256").update(archive).digest("hex");
    server = createServer((request, response) => {
      const name = `pulumi-v3.274.1-${process.platform}-${process.arch}.tar.gz`;
      response.end(request.url?.endsWith(name) ? archive : `${checksum}  ${name}\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sdk`;
  });

  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  it("downloads the release once, verified, and finds it in the cache afterwards", async () => {
    const first = await ensurePulumiCli({ releases });
    expect(first).toEqual({ folder: join(cache, "pulumi-3.274.1"), built: false });
    expect(existsSync(join(first.folder, "pulumi-language-nodejs"))).toBe(true);
    expect(await ensurePulumiCli({ releases: "http://127.0.0.1:1" })).toEqual(first);
  });

  it("does not go on with a release whose checksum is another", async () => {
    checksum = "0".repeat(64);
    await expect(ensurePulumiCli({ releases })).rejects.toThrow(/is not what was published/);
    expect(existsSync(join(cache, "pulumi-3.274.1"))).toBe(false);
  });

  it("is content with a build of its own from an earlier run", async () => {
    installation("cache/pulumi-3.274.1-built-1", "v3.274.1");
    expect(await ensurePulumiCli({ releases: "http://127.0.0.1:1" })).toMatchObject({ built: true });
  });
});
