/** What the command looks at before it begins, and a state file that was cut short. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireRoomForState, sensibleUmask } from "../../bin/surroundings";
import { mendState } from "../../reconciler/mend-state";
import { temporaryFolder } from "../../setup/temporary-folder";
import { explained, unwritable } from "../../setup/unwritable";

describe("a umask", () => {
  it.each([
    [0o000, 0o002],
    [0o002, 0o002],
    [0o022, 0o022],
    [0o077, 0o077],
    [0o777, 0o077],
  ])("of %i becomes %i", (given, sensible) => {
    expect(sensibleUmask(given)).toBe(sensible);
  });
});

describe("a folder for temporary files", () => {
  it("is the first that can be written, and has a whole path", () => {
    expect(temporaryFolder(["/no/such", ".", "/dev/null", tmpdir()])).toBe(tmpdir());
    expect(() => temporaryFolder(["/no/such", "."])).toThrow(/looked at \/no\/such, \.\. Set TMPDIR/);
  });
});

describe("room for the state", () => {
  it("is refused with what is there and what is needed", () => {
    expect(() => requireRoomForState("/a", 3 * 1024 * 1024)).toThrow(
      "The disk of /a is full: 3 MB are left, and 16 MB are needed",
    );
  });

  it("is not asked for where the system does not tell", () => {
    requireRoomForState("/no/such/folder");
    requireRoomForState(tmpdir());
  });
});

describe("what cannot be written", () => {
  it.each([
    ["ENOSPC", "the disk is full. Make room"],
    ["EDQUOT", "your share of the disk is used up"],
    ["EROFS", "read-only"],
    ["EACCES", "no right"],
  ])("for %s says what to do", (code, words) => {
    const error = Object.assign(new Error(code), { code, path: "/from", dest: "/a" });
    expect(unwritable("/a", error).message).toMatch(new RegExp(`^/a cannot be written: .*${words}`));
    expect(explained(error)).toEqual(unwritable("/a", error));
  });

  it("leaves other errors as they are", () => {
    for (const error of [new Error("x"), Object.assign(new Error("gone"), { code: "ENOENT" }), "text"]) {
      expect(explained(error)).toBe(error);
    }
  });
});

describe("a state file that is not whole", () => {
  const whole = (serial: number) => JSON.stringify({ version: 3, checkpoint: { latest: { serial } } });
  let folder: string;
  let stacks: string;
  let backups: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kubicorn.gz state "));
    stacks = join(folder, ".pulumi/stacks/p");
    backups = join(folder, ".pulumi/backups/p/dev");
    mkdirSync(stacks, { recursive: true });
    mkdirSync(backups, { recursive: true });
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const place = () => ({ project: "p", stack: "dev", fullName: "dev", backendFolder: folder });

  function put(file: string, content: string | Buffer, secondsAgo: number): void {
    writeFileSync(file, content);
    utimesSync(file, new Date(), new Date(Date.now() - secondsAgo * 1000));
  }

  it("gives way to the newest copy that is whole, and is kept", () => {
    put(join(stacks, "dev.json"), whole(3).slice(0, 20), 0);
    put(join(stacks, "dev.json.bak"), "", 1);
    put(join(backups, "dev.1.json"), whole(1), 9);
    put(join(backups, "dev.2.json"), whole(2), 5);
    put(join(backups, "dev.2.json.attrs"), whole(9), 2);
    expect(mendState(place())).toMatch(/^The state of the stack dev was cut short; the copy of .* is in its place\./);
    expect(readFileSync(join(stacks, "dev.json"), "utf8")).toBe(whole(2));
    expect(readdirSync(stacks).filter((name) => name.includes("damaged"))).toHaveLength(1);
    expect(mendState(place())).toBeUndefined();
  });

  it("may be compressed", () => {
    put(join(stacks, "dev.json.gz"), gzipSync(whole(2)).subarray(0, 15), 0);
    put(join(stacks, "dev.json.gz.bak"), gzipSync(whole(1)), 1);
    expect(mendState(place())).toMatch(/is in its place/);
    expect(mendState(place())).toBeUndefined();
  });

  it("without a whole copy is set aside only where it held nothing; what was made is never forgotten by itself", () => {
    put(join(stacks, "dev.json"), "", 0);
    expect(mendState(place())).toMatch(/cut short before it held anything, so it begins anew\.$/);
    expect(readdirSync(stacks).filter((name) => !name.includes("damaged"))).toEqual([]);
    const cut = '{"checkpoint": {"latest": {"resources": [{"urn": "urn:pulumi:dev::p::k:Machine::one"';
    put(join(stacks, "dev.json"), cut, 0);
    expect(() => mendState(place())).toThrow(/no copy of it is whole.*kubicorn\.io\/cluster.*move the file away\.$/);
    expect(readFileSync(join(stacks, "dev.json"), "utf8")).toBe(cut);
  });

  it("is whole without its attributes, which Pulumi writes in place and cannot read where a kill has cut them short", () => {
    put(join(stacks, "dev.json"), whole(1), 0);
    for (const cut of ["", '{"user.cache_control":"']) {
      put(join(stacks, "dev.json.attrs"), cut, 0);
      expect(mendState(place())).toBeUndefined();
      expect(readdirSync(stacks)).toEqual(["dev.json"]);
    }
    put(join(stacks, "dev.json.attrs"), '{"user.cache_control":""}', 0);
    expect(mendState(place())).toBeUndefined();
    expect(readdirSync(stacks)).toEqual(["dev.json", "dev.json.attrs"]);
  });

  it("is no matter where there is none, or a whole one", () => {
    expect(mendState(place())).toBeUndefined();
    put(join(stacks, "dev.json"), whole(1), 0);
    expect(mendState(place())).toBeUndefined();
  });
});
