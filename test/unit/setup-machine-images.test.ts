/** What the list of machine images says, by what the engine tells. */
import { afterEach, expect, test } from "vitest";
import { imageTable } from "../../bin/image";
import { containerEngine } from "../../providers/local/engine";
import { machineImageReference } from "../../setup/machine-image";
import { storedMachineImages } from "../../setup/machine-images";
import { type Answer, EngineProgram } from "../doubles/engine-program";

let engine: EngineProgram | undefined;

afterEach(() => engine?.remove());

const stored = (name: "podman" | "docker", answers: readonly Answer[]) => {
  engine = new EngineProgram(name, answers);
  return storedMachineImages(containerEngine(name));
};

const image = (id: string, Created: string) => ({ Id: id, Size: 751952742, Created });
const machine = (Image: string, owner?: string) => ({
  Image,
  Config: { Labels: owner === undefined ? null : { "kubicorn.io/owner": owner } },
});

test("tells which image is the current one, how large it is, and whose machines are made of it", async () => {
  const current = (await machineImageReference("1.37.2")).replace(/^.*:/, "");
  const images = await stored("podman", [
    { to: "images --filter reference=localhost/kubicorn-machine", stdout: `1.37.2-00000000\n${current}\n<none>\n` },
    {
      to: `image inspect localhost/kubicorn-machine:1.37.2-00000000 localhost/kubicorn-machine:${current}`,
      stdout: JSON.stringify([image("old", "2026-01-02T03:04:05.123456789Z"), image("new", "2026-02-02T03:04:05Z")]),
    },
    { to: "ps --all", stdout: "one\ntwo\nthree\nfour\ngone\n" },
    { to: "container inspect one", stdout: JSON.stringify([machine("new", "p/b")]) },
    { to: "container inspect two", stdout: JSON.stringify([machine("new", "p/a")]) },
    { to: "container inspect three", stdout: JSON.stringify([machine("new", "p/a")]) },
    { to: "container inspect four", stdout: JSON.stringify([machine("another", "p/c")]) },
    { to: "container inspect gone", stderr: 'Error: no such container "gone"', exitCode: 125 },
  ]);
  expect(images).toEqual([
    {
      reference: `localhost/kubicorn-machine:${current}`,
      tag: current,
      kubernetesVersion: "1.37.2",
      engine: "podman",
      sizeGiB: 0.7,
      made: "2026-02-02T03:04:05.000Z",
      current: true,
      stacks: ["p/a", "p/b"],
    },
    expect.objectContaining({ tag: "1.37.2-00000000", current: false, stacks: [], made: "2026-01-02T03:04:05.123Z" }),
  ]);
  const lines = imageTable(images).split("\n");
  expect(lines[0]?.split(/ {2,}/)).toEqual(["TAG", "KUBERNETES", "SIZE", "MADE", "ENGINE", "CURRENT", "STACKS"]);
  expect(lines[1]?.split(/ {2,}/)).toEqual(expect.arrayContaining([current, "0.70 GiB", "yes", "p/a, p/b"]));
});

test("knows images of docker by their ids, which have the kind of their hash before them", async () => {
  const images = await stored("docker", [
    { to: "images", stdout: "1.37.2-00000000\n" },
    { to: "image inspect", stdout: JSON.stringify([image("sha256:aa", "2026-01-02T03:04:05+02:00")]) },
    { to: "ps --all", stdout: "one\n" },
    { to: "container inspect", stdout: JSON.stringify([machine("sha256:aa", "p/a")]) },
  ]);
  expect(images).toMatchObject([{ engine: "docker", stacks: ["p/a"], made: "2026-01-02T01:04:05.000Z" }]);
});

test("is empty where there is none, and never where the engine's answer is cut off", async () => {
  expect(await stored("podman", [{ to: "images" }, { to: "ps --all" }])).toEqual([]);
  engine?.remove();
  await expect(stored("podman", [{ to: "images", cut: true }, { to: "ps --all" }])).rejects.toThrow(/gave nothing/);
});
