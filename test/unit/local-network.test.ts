/** The range that a configuration names for its machines: what of this computer stands in its way, and when that is told. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { network } from "../../providers/local/network";
import { clashOf } from "../../providers/local/subnets";
import { type Answer, EngineProgram } from "../doubles/engine-program";

let engine: EngineProgram | undefined;

beforeEach(() => vi.stubEnv("KUBICORN_ENGINE", "podman"));

afterEach(() => {
  engine?.remove();
  engine = undefined;
  vi.unstubAllEnvs();
});

/** An engine with one network. */
function engineWith(name: string, subnet: string): EngineProgram {
  const answers: Answer[] = [
    { to: "network ls", stdout: `${name}\n` },
    { to: "network inspect", stdout: JSON.stringify([{ name, subnets: [{ subnet }], labels: {} }]) },
    { to: "version" },
  ];
  engine = new EngineProgram("podman", answers);
  return engine;
}

const wanted = { cluster: "dev", owner: "project/stack", avoid: [], range: "10.98.0.0/24" };

describe("a range that the configuration names", () => {
  it("is foreseen to clash with a network of the engine, also before the engine of the cluster is known", async () => {
    engineWith("other", "10.98.0.0/16");
    expect(await network.foresee?.(wanted, undefined)).toEqual([
      {
        path: "range",
        value: "10.98.0.0/24",
        allowed: expect.stringMatching(
          /^network.machines: 10.98.0.0\/24 overlaps with 10.98.0.0\/16, which network other/,
        ),
      },
    ]);
  });

  it("does not clash with the very network, left by a run that was killed before it recorded it", async () => {
    engineWith("dev-abcdef", "10.98.0.0/24");
    expect(await network.foresee?.({ ...wanted, identity: "abcdef", engine: "podman" }, undefined)).toEqual([]);
  });

  it("is no question where the network has it already, nor where none is named", async () => {
    const calls = engineWith("other", "10.98.0.0/16");
    expect(await network.foresee?.(wanted, wanted)).toEqual([]);
    expect(await network.foresee?.({ ...wanted, range: undefined }, undefined)).toEqual([]);
    expect(calls.calls).toEqual([]);
  });

  it("is refused where the network was made with another one that nobody had named", async () => {
    engineWith("dev-abcdef", "10.98.0.0/24");
    const made = { ...wanted, identity: "abcdef", engine: "podman" as const };
    const { range: _unnamed, ...former } = made;
    expect(await network.foresee?.({ ...made, range: "10.97.0.0/24" }, former)).toEqual([
      { path: "network.machines", value: "10.97.0.0/24", allowed: expect.stringContaining('it stays "10.98.0.0/24"') },
    ]);
    expect(await network.foresee?.(made, former)).toEqual([]);
    expect(network.fixed).toEqual({ range: "network.machines" });
  });

  it("clashes with interfaces of this computer where no engine answers", async () => {
    vi.stubEnv("PATH", "/nowhere");
    expect(await network.foresee?.({ ...wanted, range: "127.0.0.0/8" }, undefined)).toMatchObject([
      { allowed: expect.stringContaining("127.0.0.0/8, which interface lo of this computer has") },
    ]);
  });

  it("is free beside ranges that only touch it", () => {
    const used = [{ range: { text: "10.98.1.0/24", first: 0x0a620100, size: 256 }, user: "network other" }];
    expect(clashOf("10.98.0.0/24", used)).toBeUndefined();
    expect(clashOf("10.98.0.0/23", used)).toContain("which network other of this computer has");
  });
});
