/** Commands over SSH against a real server in this process: what is retried, what is not, and what an error says. */
import { createServer } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { makeKeyPair } from "../../bootstrap/keys";
import { runOnMachine } from "../../bootstrap/ssh";
import { DeadlineError, RemoteError, UserError } from "../../cloud/errors";
import { RecordingContext } from "../doubles/context";
import { SshMachine } from "../doubles/ssh-server";

const machines: SshMachine[] = [];

async function machine(...answer: ConstructorParameters<typeof SshMachine>): Promise<SshMachine> {
  const made = await new SshMachine(...answer).start();
  machines.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(machines.splice(0).map((one) => one.stop()));
});

const remote = { operation: "reading a file", machine: "demo-1", command: "cat file", seconds: 5 };

describe("a command on a machine", () => {
  it("gives back what was printed and passes standard input", async () => {
    const one = await machine(({ stdin }) => ({ stdout: `got ${stdin}` }));
    const output = await runOnMachine(one.access, { ...remote, stdin: "a secret" }, new RecordingContext());
    expect(output).toBe("got a secret");
    expect(one.asked).toEqual([{ command: "cat file", stdin: "a secret" }]);
  });

  it("that fails is told with machine, operation, exit code and last lines, and is not run again", async () => {
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n");
    const one = await machine(() => ({ stderr: lines, code: 3 }));
    const error = await runOnMachine(one.access, { ...remote, stdin: "TOPSECRET" }, new RecordingContext()).catch(
      (caught) => caught,
    );
    expect(error).toBeInstanceOf(RemoteError);
    expect(error.message).toMatch(/^demo-1: reading a file failed \(exit code 3\): line 25\n/);
    expect(error.message).toContain("line 49");
    expect(error.message).not.toContain("line 24");
    expect(error.message).not.toContain("TOPSECRET");
    expect(one.asked).toHaveLength(1);
  });

  it("that is killed is a failure, not a success without a code", async () => {
    const one = await machine(() => ({ code: { signal: "KILL" } }));
    await expect(runOnMachine(one.access, remote, new RecordingContext())).rejects.toThrow(/ended by signal/);
  });

  it("whose connection is lost in the middle is run again", async () => {
    let tries = 0;
    const one = await machine(() => {
      tries += 1;
      return tries === 1 ? { code: "lost" } : { stdout: "fine" };
    });
    const context = new RecordingContext();
    expect(await runOnMachine(one.access, remote, context)).toBe("fine");
    expect(context.progressed.join()).toContain("lost while reading a file");
  });

  it("waits for a machine that does not listen yet", async () => {
    const one = await machine();
    const { access } = one;
    await one.stop();
    const context = new RecordingContext();
    const running = runOnMachine(access, remote, context);
    setTimeout(() => one.start(access.port), 300);
    expect(await running).toBe("");
    expect(context.progressed[0]).toContain("waiting for demo-1 to answer SSH");
  });

  it("waits while the user is not made yet", async () => {
    const one = await machine();
    one.refusals = 3;
    expect(await runOnMachine(one.access, remote, new RecordingContext())).toBe("");
    expect(one.connections).toBe(4);
  });

  it.each(["dropped", "endedAfterLogin", "refusedSessions"] as const)(
    "goes on with another connection when the server is busy or restarts: %s",
    async (kind) => {
      const one = await machine(() => ({ stdout: "fine" }));
      one[kind] = 2;
      expect(await runOnMachine(one.access, remote, new RecordingContext())).toBe("fine");
      expect(one.connections).toBe(3);
      expect(one.asked).toHaveLength(1);
    },
  );

  it("whose connection is lost in the middle of its output gives the whole of the next try, and not a part", async () => {
    let tries = 0;
    const one = await machine(() => {
      tries += 1;
      return tries === 1 ? { stdout: "half of", code: "lost" } : { stdout: "all of it" };
    });
    expect(await runOnMachine(one.access, remote, new RecordingContext())).toBe("all of it");
  });

  it("is made anew at each try where it holds the time", async () => {
    let tries = 0;
    const one = await machine(() => ({ code: "lost" }));
    const command = () => `try ${++tries}`;
    one.answer = () => (tries < 2 ? { code: "lost" } : {});
    await runOnMachine(one.access, { ...remote, command }, new RecordingContext());
    expect(one.asked.map((asked) => asked.command)).toEqual(["try 1", "try 2"]);
  });

  it("ends at once when the machine has another host key, without logging in or retrying", async () => {
    const one = await machine();
    const access = { ...one.access, hostKey: (await makeKeyPair("other")).publicKey };
    const error = await runOnMachine(access, remote, new RecordingContext()).catch((caught) => caught);
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain("another SSH host key than the one that was made for demo-1");
    expect(one.connections).toBe(1);
    expect(one.asked).toEqual([]);
  });

  it.each(["not a key", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----"])(
    "ends at once with the key %j, which is none",
    async (privateKey) => {
      const one = await machine();
      const running = runOnMachine({ ...one.access, privateKey }, remote, new RecordingContext());
      await expect(running).rejects.toThrow(/^The SSH key for demo-1 cannot be used/);
    },
  );

  it("ends at its time limit with the last reason", async () => {
    const one = await machine();
    const { access } = one;
    await one.stop();
    const running = runOnMachine(access, { ...remote, seconds: 0.5 }, new RecordingContext());
    await expect(running).rejects.toThrow(/waited 0.5 s for demo-1 to answer SSH, in vain; last: .*ECONNREFUSED/);
  });

  it("survives a server that accepts and never speaks", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const one = await machine();
    const running = runOnMachine({ ...one.access, port }, { ...remote, seconds: 1 }, new RecordingContext());
    await expect(running).rejects.toBeInstanceOf(DeadlineError);
    silent.close();
  });

  it("ends at its time limit while it runs, also when memory was tidied up meanwhile", async () => {
    const one = await machine(() => new Promise(() => undefined));
    setFlagsFromString("--expose-gc");
    const tidyUp: () => void = runInNewContext("gc");
    const tidying = setInterval(tidyUp, 50);
    const running = runOnMachine(one.access, { ...remote, seconds: 1 }, new RecordingContext());
    await expect(running).rejects.toThrow(/demo-1: reading a file did not end in time: 1 s is its limit/);
    clearInterval(tidying);
  });

  it("is interrupted while it runs", async () => {
    const one = await machine(() => new Promise(() => undefined));
    const context = new RecordingContext();
    const running = runOnMachine(one.access, { ...remote, seconds: 60 }, context);
    setTimeout(() => context.interrupt(), 200);
    await expect(running).rejects.toThrow(/demo-1: reading a file did not end in time: the run was interrupted/);
  });
});
