/**
 * Commands on machines over SSH. The host key is known before the machine exists and always checked;
 * secrets travel on standard input only.
 */
import type { Client, ClientChannel, ConnectConfig, ServerHostKeyAlgorithm } from "ssh2";
import { z } from "zod";
import { DeadlineError, messageOf, RemoteError, TransientError, UserError } from "../cloud/errors";
import type { Context } from "../cloud/resource";
import { waitUntil } from "../cloud/retry";

/** How to reach one machine, and how to know it. */
export const sshAccess = z.strictObject({
  host: z.string().min(1),
  port: z.number().int().min(1).max(65535),
  user: z.string().min(1),
  /** OpenSSH PEM, without a passphrase. */
  privateKey: z.string().min(1),
  /** The machine's public host key: one line, as in its .pub file. */
  hostKey: z.string().min(1),
});

export type SshAccess = z.output<typeof sshAccess>;

export interface RemoteCommand {
  /** What is being done, as in "joining the cluster". */
  readonly operation: string;
  /** The machine's name, for messages. */
  readonly machine: string;
  /** The command line, or what makes it at each try. Seen by everyone on the machine: must hold no secret. */
  readonly command: string | (() => string);
  /** What it reads; the place for secrets. @default nothing */
  readonly stdin?: string;
  /** The time limit with all its tries, in seconds. */
  readonly seconds: number;
}

const connectSeconds = 15;
const outputLimit = 1024 * 1024;
const shownLines = 25;

/**
 * Runs a command that may be run again: a connection that cannot be made or is lost is tried anew until the time is over.
 *
 * @returns what it printed
 * @throws RemoteError with its exit code and last lines, when it ran and failed
 */
export async function runOnMachine(access: SshAccess, remote: RemoteCommand, context: Context): Promise<string> {
  const deadline = performance.now() + remote.seconds * 1000;
  const wait = {
    description: `${remote.machine} to answer SSH`,
    seconds: remote.seconds,
    pauseMilliseconds: 100,
    signal: context.signal,
    progress: (message: string) => context.progress(message),
  };
  return await waitUntil(wait, async () => {
    const left = Math.max(1000, Math.ceil(deadline - performance.now()));
    const client = await connect(access, remote.machine, left);
    try {
      return { found: await execute(client, remote, context.signal, left) };
    } finally {
      client.end();
    }
  });
}

/** One connection. What another try may cure is a TransientError; a wrong host key never is. */
async function connect(access: SshAccess, machine: string, milliseconds: number): Promise<Client> {
  const { Client } = await import("ssh2");
  const client = new Client();
  const expected = keyOf(access.hostKey);
  let offered: Buffer | undefined;
  return await new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      client.destroy();
      reject(offered?.equals(expected) === false ? wrongHostKey(access, machine) : asTransient(error, machine));
    };
    // Stays for the connection's life: after a time-out there is a second error, and one that nobody hears ends the process.
    client.on("error", fail);
    client.on("close", () => fail(new Error("the connection was closed before it was made")));
    client.on("ready", () => resolve(client));
    const config: ConnectConfig = {
      host: access.host,
      port: access.port,
      username: access.user,
      privateKey: access.privateKey,
      readyTimeout: Math.min(connectSeconds * 1000, milliseconds),
      keepaliveInterval: 5000,
      keepaliveCountMax: 6,
      algorithms: { serverHostKey: [access.hostKey.split(" ", 1)[0] as ServerHostKeyAlgorithm] },
      hostVerifier: (key: Buffer) => {
        offered = key;
        return key.equals(expected);
      },
    };
    try {
      client.connect(config);
    } catch (error) {
      reject(new UserError(`The SSH key for ${machine} cannot be used: ${messageOf(error)}`));
    }
  });
}

async function execute(
  client: Client,
  remote: RemoteCommand,
  signal: AbortSignal,
  milliseconds: number,
): Promise<string> {
  const { machine, operation } = remote;
  return await new Promise((resolve, reject) => {
    const lost = () => reject(new TransientError(`the connection to ${machine} was lost while ${operation}`));
    const end = (reason: string) => {
      reject(new DeadlineError(`${machine}: ${operation} did not end in time: ${reason}`));
      client.destroy();
    };
    const interrupt = () => end(messageOf(signal.reason));
    // A timer of our own: one that is joined with another signal can be collected as garbage and then never rings.
    const timer = setTimeout(() => end(`${remote.seconds} s is its limit`), milliseconds);
    client.on("close", () => clearTimeout(timer));
    client.on("close", lost);
    const command = typeof remote.command === "string" ? remote.command : remote.command();
    const answered = (error: Error | undefined, channel: ClientChannel) => {
      if (error) {
        reject(new TransientError(`${machine} took no command while ${operation}: ${error.message}`));
        return;
      }
      const output = collect(channel);
      const errors = collect(channel.stderr);
      // An end of input that nobody reads any more is the command's own matter: its exit code tells.
      channel.on("error", () => undefined);
      channel.on("close", (code: unknown, killedBy: unknown) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", interrupt);
        if (code === 0) {
          resolve(output());
        } else if (typeof code === "number") {
          reject(new RemoteError(operation, machine, lastLines(errors() || output()), code));
        } else if (typeof killedBy === "string") {
          reject(new RemoteError(operation, machine, `it was ended by signal ${killedBy}`));
        } else {
          lost();
        }
      });
      channel.end(remote.stdin ?? "");
    };
    try {
      client.exec(command, answered);
    } catch {
      // It throws where the connection has ended since it was made.
      lost();
    }
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) {
      interrupt();
    }
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= outputLimit) {
      chunks.push(chunk);
    }
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

function lastLines(text: string): string {
  const lines = text.trim().split("\n");
  return lines.length > 1 ? `\n${lines.slice(-shownLines).join("\n")}` : lines[0] || "it printed nothing";
}

/** The key's own bytes out of its line: `ssh-ed25519 BASE64 comment`. */
function keyOf(line: string): Buffer {
  return Buffer.from(line.trim().split(/\s+/)[1] ?? "", "base64");
}

function wrongHostKey({ host, port }: SshAccess, machine: string): UserError {
  return new UserError(
    `${host}:${port} answers with another SSH host key than the one that was made for ${machine}, so it is not that machine. ` +
      "Nothing was sent to it. See what listens there, or refresh the stack if the machine was replaced by hand.",
  );
}

function asTransient(error: Error, machine: string): TransientError {
  return new TransientError(`${machine} does not answer SSH yet (${error.message})`);
}
