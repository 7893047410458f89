/** Machine images that other projects on this computer want stay; those that nobody asks for go. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { containerEngine } from "../../providers/local/engine";
import { noteUse, removeUnwanted } from "../../setup/image-use";
import { EngineProgram } from "../doubles/engine-program";

const image = (version: string, hash: string) => `localhost/kubicorn-machine:${version}-${hash}`;
const listed = [
  image("1.37.2", "aaaaaaaa"),
  image("1.37.2", "bbbbbbbb"),
  image("1.37.2", "cccccccc"),
  image("1.36.0", "dddddddd"),
];
const [fresh = "", wanted = "", forgotten = "", otherVersion = ""] = listed;

let folder: string;
let engine: EngineProgram;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubicorn-images-"));
  vi.stubEnv("KUBICORN_CACHE", folder);
  engine = new EngineProgram("podman", [{ to: "images", stdout: `${listed.join("\n")}\n` }, { to: "rmi" }]);
});

afterEach(() => {
  engine.remove();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function note(reference: string, daysAgo: number): void {
  const file = join(folder, "images-in-use", `podman-${encodeURIComponent(reference)}`);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "");
  utimesSync(file, new Date(), new Date(Date.now() - daysAgo * 24 * 60 * 60 * 1000));
}

const removed = () => engine.calls.flatMap((call) => /^rmi (.*)$/.exec(call)?.[1] ?? []);

it("an image that another project asked for this week stays, one that nobody asked for goes", async () => {
  note(fresh, 0);
  note(wanted, 6);
  note(forgotten, 8);
  note(otherVersion, 30);
  await removeUnwanted(containerEngine("podman"), fresh);
  expect(removed()).toEqual([forgotten]);
});

it("an image of which nothing is known stays for a week from now", async () => {
  await removeUnwanted(containerEngine("podman"), fresh);
  expect(removed()).toEqual([]);
  expect(readdirSync(join(folder, "images-in-use"))).toHaveLength(2);
});

it("asking for an image keeps it for another week", async () => {
  note(forgotten, 8);
  await noteUse(containerEngine("podman"), forgotten);
  await removeUnwanted(containerEngine("podman"), fresh);
  expect(removed()).toEqual([]);
});
