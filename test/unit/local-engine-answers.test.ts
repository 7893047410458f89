/** Answers of engines: of several versions, late, cut off, with warnings, in other words. Each is understood or told. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findContainer } from "../../providers/local/container";
import { containerEngine, type EngineName } from "../../providers/local/engine";
import { findNetwork, usedByEngine } from "../../providers/local/engine-networks";
import { type NetworkActual, network } from "../../providers/local/network";
import { RecordingContext } from "../doubles/context";
import { type Answer, EngineProgram } from "../doubles/engine-program";

let program: EngineProgram | undefined;

afterEach(() => {
  program?.remove();
  program = undefined;
});

function engineWith(name: EngineName, ...answers: Answer[]) {
  program = new EngineProgram(name, answers);
  return containerEngine(name);
}

const labels = { "kubicorn.io/identity": "abcdef" };
const id = "3f".repeat(32);

describe("what engines of several versions tell of a container", () => {
  // The parts that matter, as `inspect --type container` of each version has them.
  const state = { Status: "running", Running: true, Paused: false, OOMKilled: false, Dead: false, Pid: 4711 };
  it.each<[string, EngineName, object]>([
    ["podman 3.4.4", "podman", { Id: id, Name: "m1", State: { OciVersion: "1.0.2-dev", ...state, Healthcheck: {} } }],
    ["podman 4.3.1", "podman", { Id: id, Name: "m1", State: { ...state, ConmonPid: 4710, CheckpointedAt: "0001" } }],
    ["podman 5.4.2", "podman", { Id: id, Name: "m1", State: { ...state, Health: null, StoppedByUser: false } }],
    ["docker 20.10", "docker", { Id: id, Name: "/m1", Platform: "linux", State: { ...state, Restarting: false } }],
    ["docker 28.3", "docker", { Id: id, Name: "/m1", ImageManifestDescriptor: {}, State: { ...state, Error: "" } }],
  ])("%s", async (_version, name, found) => {
    const told = JSON.stringify([{ ...found, Config: { Labels: labels } }]);
    const engine = engineWith(name, { to: "ps ", stdout: `${id}\n` }, { to: "inspect", stdout: told });
    expect(await findContainer(engine, "m1")).toEqual({
      id,
      name: "m1",
      running: true,
      started: true,
      status: "running",
      labels,
    });
  });

  it("never started is called configured by podman 3 and created by the others", async () => {
    for (const Status of ["configured", "created"]) {
      const told = [{ Id: id, Name: "m1", State: { Status, Running: false }, Config: { Labels: null } }];
      const engine = engineWith("podman", { to: "ps ", stdout: id }, { to: "inspect", stdout: JSON.stringify(told) });
      expect(await findContainer(engine, "m1")).toMatchObject({ started: false, running: false, labels: {} });
      program?.remove();
    }
  });
});

describe("what engines of several versions tell of a network", () => {
  it.each<[string, EngineName, object]>([
    [
      "podman 3.4.4",
      "podman",
      {
        args: { podman_labels: labels },
        cniVersion: "0.4.0",
        name: "dev-abcdef",
        plugins: [
          {
            bridge: "cni-podman2",
            ipam: { ranges: [[{ gateway: "10.99.7.1", subnet: "10.99.7.0/24" }]], type: "host-local" },
            isGateway: true,
            type: "bridge",
          },
          { capabilities: { portMappings: true }, type: "portmap" },
        ],
      },
    ],
    [
      "podman 4.3.1",
      "podman",
      {
        name: "dev-abcdef",
        id: "2f25",
        driver: "bridge",
        network_interface: "cni-podman1",
        subnets: [{ subnet: "10.99.7.0/24", gateway: "10.99.7.1" }],
        labels,
        ipam_options: { driver: "host-local" },
      },
    ],
    [
      "podman 5.4.2",
      "podman",
      {
        name: "dev-abcdef",
        id: "2f25",
        subnets: [{ subnet: "10.99.7.0/24", gateway: "10.99.7.1" }],
        labels,
        containers: { [id]: { name: "m1", interfaces: {} } },
      },
    ],
    [
      "docker 20.10",
      "docker",
      {
        Name: "dev-abcdef",
        Id: "8c94",
        EnableIPv6: false,
        IPAM: { Driver: "default", Options: {}, Config: [{ Subnet: "10.99.7.0/24", Gateway: "10.99.7.1" }] },
        Labels: labels,
      },
    ],
    [
      "docker 28.3",
      "docker",
      {
        Name: "dev-abcdef",
        Id: "8c94",
        EnableIPv4: true,
        IPAM: { Config: [{ Subnet: "10.99.7.0/24", IPRange: "", Gateway: "10.99.7.1" }] },
        Labels: labels,
      },
    ],
  ])("%s", async (_version, name, told) => {
    const engine = engineWith(
      name,
      { to: "network ls", stdout: "podman\ndev-abcdef\n" },
      { to: "network inspect", stdout: JSON.stringify([told]) },
    );
    expect(await findNetwork(engine, "dev-abcdef")).toEqual({ name: "dev-abcdef", subnet: "10.99.7.0/24", labels });
  });

  it("without a range of its own, as docker's host and none", async () => {
    const told = ["host", "none"].map((Name) => ({ Name, IPAM: { Driver: "default", Config: null }, Labels: {} }));
    const engine = engineWith(
      "docker",
      { to: "network ls", stdout: "host\nnone\n" },
      { to: "network inspect", stdout: JSON.stringify(told) },
    );
    expect(await usedByEngine(engine)).toEqual([]);
  });
});

describe("an answer that proves nothing", () => {
  const container: Answer = { to: "inspect", stdout: JSON.stringify([]) };
  it.each<[string, Answer[], RegExp]>([
    [
      "a list with nothing at all",
      [{ to: "ps ", cut: true }],
      /^podman: listing machines failed: "podman ps --all .*" gave nothing, and not the heading of a list of IDs$/,
    ],
    ["a list in another form", [{ to: "ps ", cut: true, stdout: "[]" }], /gave "\[\]", and not the heading/],
    [
      "nothing about what was listed",
      [{ to: "ps ", stdout: id }, { to: "inspect" }],
      /"podman inspect --type container 3f3f.*" gave nothing, and not JSON that tells of 1/,
    ],
    ["an empty list about what was listed", [{ to: "ps ", stdout: id }, container], /gave "\[\]", and not JSON/],
    [
      "half of it",
      [
        { to: "ps ", stdout: id },
        { to: "inspect", stdout: '[{"Id": "3f3f' },
      ],
      /gave "\[\{"Id": "3f3f", and not JSON/,
    ],
    [
      "a sentence with a good exit code",
      [
        { to: "ps ", stdout: id },
        { to: "inspect", stdout: "Aucun conteneur" },
      ],
      /gave "Aucun conteneur", and not JSON/,
    ],
    [
      "the other words of another country",
      [
        { to: "ps ", stdout: id },
        { to: "inspect", stderr: "Fehler: kein solcher Container", exitCode: 125 },
      ],
      /podman: looking at machines failed \(exit code 125\): Fehler: kein solcher Container/,
    ],
    [
      "no word at all",
      [{ to: "ps ", exitCode: 3 }],
      /podman: listing machines failed \(exit code 3\): Command failed with exit code 3/,
    ],
  ])("%s ends in a sentence", async (_case, answers, sentence) => {
    const engine = engineWith("podman", ...answers);
    await expect(findContainer(engine, "m1")).rejects.toThrow(sentence);
    await expect(findContainer(engine, "m1")).rejects.not.toHaveProperty("issues");
  });

  it("never makes a network gone, nor another one in its place", async () => {
    const engine = engineWith("podman", { to: "network ls", cut: true });
    const base = { cluster: "dev", owner: "project/stack", identity: "abcdef", avoid: [], engine: engine.name };
    const actual: NetworkActual = { ...base, name: "dev-abcdef", subnet: "10.99.7.0/24", gateway: "10.99.7.1" };
    const context = new RecordingContext<NetworkActual>();
    expect(await network.actual({ id: "dev-abcdef", actual }, context)).toEqual(actual);
    expect(context.warned).toEqual([expect.stringMatching(/network dev-abcdef could not be looked at: podman: /)]);
    await expect(network.apply(base, undefined, context)).rejects.toThrow(/gave nothing, and not the heading/);
    await expect(network.delete({ id: "dev-abcdef", actual }, context)).rejects.toThrow(/gave nothing/);
    expect(program?.calls.some((call) => /\b(create|rm)\b/.test(call))).toBe(false);
  });
});

describe("an answer that is good", () => {
  it("stays good with warnings beside it", async () => {
    const warned = { stderr: 'time="2026-12-01" level=warning msg="The cgroupv2 manager is set to systemd"\n' };
    const told = [{ Id: id, Name: "m1", State: { Status: "exited", Running: false }, Config: { Labels: labels } }];
    const engine = engineWith(
      "podman",
      { to: "ps ", stdout: id, ...warned },
      { to: "inspect", stdout: JSON.stringify(told), ...warned },
    );
    expect(await findContainer(engine, "m1")).toMatchObject({ id, status: "exited" });
  });

  it("may come late, and is asked for once", async () => {
    const engine = engineWith("podman", { to: "ps ", after: 3000 });
    expect(await findContainer(engine, "m1")).toBeUndefined();
    expect(program?.calls).toHaveLength(1);
  });

  it("may be that one of the listed went meanwhile", async () => {
    const gone = { to: "inspect", stderr: "Error: inspecting object: no such container", exitCode: 125, times: 1 };
    const engine = engineWith("podman", { to: "ps ", stdout: id, times: 1 }, { to: "ps " }, gone);
    expect(await findContainer(engine, "m1")).toBeUndefined();
  });
});

describe("an engine that lists for good what it cannot tell of", () => {
  const unknown = { to: "inspect", stderr: "Error: no such container", exitCode: 125 };

  it("does so of a container that docker lost: an error, after a few looks", async () => {
    const engine = engineWith("docker", { to: "ps ", stdout: id }, unknown);
    await expect(findContainer(engine, "m1")).rejects.toThrow(/no such container/);
  });

  it("does so of a network: an error, after a few looks", async () => {
    const lost = { to: "network inspect", stderr: "Error: network not found", exitCode: 125 };
    const engine = engineWith("podman", { to: "network ls", stdout: "dev-abcdef\n" }, lost);
    await expect(usedByEngine(engine)).rejects.toThrow(/network not found/);
  });
});

describe("an engine that refuses as a whole", () => {
  it.each<[EngineName, string, RegExp]>([
    [
      "docker",
      "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
      /add the user to the group "docker"/,
    ],
    ["podman", "Error: cannot clone: Operation not permitted", /Run as root/],
    ["podman", "Error: writing blob: write /var/lib/containers: no space left on device", /podman system df/],
    ["podman", "Error: unknown flag: --time", /older than what machines need/],
  ])("%s: %s", async (name, stderr, advice) => {
    const engine = engineWith(name, { to: "ps ", stderr, exitCode: 125 });
    const failure = await findContainer(engine, "m1").catch((error: Error) => error.message);
    expect(failure).toContain(`${name}: listing machines failed`);
    expect(failure).toContain(stderr);
    expect(failure).toMatch(advice);
  });

  it.each<[EngineName, string, RegExp]>([
    ["docker", "Cannot connect to the Docker daemon. Is the docker daemon running?", /systemctl start docker/],
    ["podman", "Error: database is locked", /Another program holds podman's store/],
  ])("%s, asked again while it may pass: %s", async (name, stderr, advice) => {
    const engine = engineWith(name, { to: "ps ", stderr, exitCode: 125 });
    const failure = await findContainer(engine, "m1").catch((error: Error) => error.message);
    expect(failure).toContain(`${name}: listing machines failed`);
    expect(failure).toMatch(advice);
    expect(program?.calls.length).toBeGreaterThan(2);
  });
});

describe("an engine that never answers", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "kubicorn-silent-"));
    vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is ended at the time limit, also where it takes no notice and has left something behind", async () => {
    const file = join(folder, "podman");
    writeFileSync(file, "#!/bin/sh\ntrap '' TERM\nsleep 19 &\nsleep 18\n");
    chmodSync(file, 0o755);
    const began = Date.now();
    const asked = containerEngine("podman").run("listing machines", ["ps"], { seconds: 1 });
    await expect(asked).rejects.toThrow("podman: listing machines failed: no answer within 1 s");
    expect(Date.now() - began).toBeLessThan(12_000);
  });
});
