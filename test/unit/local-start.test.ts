/** Starting a machine that is there: from whatever state its engine has left it in, or with the reason why it cannot be. */
import { afterEach, describe, expect, it } from "vitest";
import type { Container } from "../../providers/local/container";
import { containerEngine } from "../../providers/local/engine";
import { restartMachine, startMachine } from "../../providers/local/start";
import { type Answer, EngineProgram } from "../doubles/engine-program";

let program: EngineProgram | undefined;

afterEach(() => {
  program?.remove();
  program = undefined;
});

function podmanWith(...answers: Answer[]) {
  program = new EngineProgram("podman", answers);
  return containerEngine("podman");
}

const container = (status: string): Container => ({
  id: "3f",
  name: "dev-workers-1-abcdef",
  running: false,
  started: true,
  status,
  labels: {},
});

describe("starting a machine", () => {
  it("that is stopped starts it, with the options that this computer needs", async () => {
    const engine = podmanWith({ to: "start 3f" });
    await startMachine(engine, container("exited"), ["--runtime", "runc"]);
    expect(program?.calls).toEqual(["--runtime runc start 3f"]);
  });

  it("that is paused wakes it", async () => {
    const engine = podmanWith({ to: "unpause 3f" });
    await startMachine(engine, container("paused"), []);
    expect(program?.calls).toEqual(["unpause 3f"]);
  });

  it("whose watcher lives touches nothing of podman's own", async () => {
    const engine = podmanWith({ to: "inspect", stdout: `${process.pid} 2147483647` }, { to: "start 3f" });
    await startMachine(engine, container("stopping"), []);
    expect(program?.calls.at(-1)).toBe("start 3f");
  });

  it.each([
    "cannot listen on the TCP port: listen tcp4 127.0.0.1:21011: bind: address already in use",
    "plugin type=bridge failed (add): requested IP address 10.99.7.10 is not available in range set 10.99.7.1-10.99.7.254",
    "driver failed programming external connectivity: Bind for 127.0.0.1:21011 failed: port is already allocated",
  ])("whose place was taken meanwhile says so: %s", async (stderr) => {
    const engine = podmanWith({ to: "start 3f", stderr, exitCode: 126 });
    const failure = await startMachine(engine, container("exited"), []).catch((error: Error) => error.message);
    expect(failure).toContain("another program has taken its port or its address meanwhile");
    expect(failure).toContain(stderr);
    expect(failure).toContain('"podman rm --force dev-workers-1-abcdef"');
  });

  it("that did not come back from its restart starts it, and one that runs still fails with the engine's words", async () => {
    const refused = { to: "restart", stderr: "cannot start a container that has stopped", exitCode: 125 };
    const told = (Status: string) =>
      JSON.stringify([
        { Id: "3f", Name: "dev-workers-1-abcdef", State: { Running: Status === "running", Status }, Config: {} },
      ]);
    const listed = { to: "ps ", stdout: "3f\n" };
    const stopped = podmanWith(refused, listed, { to: "inspect", stdout: told("exited") }, { to: "start 3f" });
    await restartMachine(stopped, container("running"), [], 10);
    expect(program?.calls.at(-1)).toBe("start 3f");
    program?.remove();
    const running = podmanWith(refused, listed, { to: "inspect", stdout: told("running") });
    await expect(restartMachine(running, container("running"), [], 10)).rejects.toThrow(/that has stopped/);
  });
});
