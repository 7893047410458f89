/**
 * A machine's SSH server, in this process: real keys and a real protocol, commands answered by a function.
 */
import type { AddressInfo } from "node:net";
import ssh2 from "ssh2";
import { type KeyPair, makeKeyPair } from "../../bootstrap/keys";
import type { SshAccess } from "../../bootstrap/ssh";

export interface Answer {
  readonly stdout?: string;
  readonly stderr?: string;
  /** @default 0; "lost" cuts the connection in the middle of the command */
  readonly code?: number | "lost" | { readonly signal: string };
}

export interface Asked {
  readonly command: string;
  readonly stdin: string;
}

export class SshMachine {
  /** Everything it was asked, in order. */
  readonly asked: Asked[] = [];
  /** How many log-ins it refuses from now on. */
  refusals = 0;
  /** How many sessions on a connection that is made it refuses from now on. */
  refusedSessions = 0;
  /** How many connections it ends as soon as they come, as a busy server does. */
  dropped = 0;
  /** How many connections it ends right after the log-in. */
  endedAfterLogin = 0;
  connections = 0;
  private hostKey: KeyPair = { publicKey: "", privateKey: "" };
  private userKey: KeyPair = { publicKey: "", privateKey: "" };
  private server: ssh2.Server | undefined;
  private readonly clients = new Set<ssh2.Connection>();
  private lastPort = 0;

  constructor(public answer: (asked: Asked) => Answer | Promise<Answer> = () => ({})) {}

  get access(): SshAccess {
    return {
      host: "127.0.0.1",
      port: this.lastPort,
      user: "kubicorn",
      privateKey: this.userKey.privateKey,
      hostKey: this.hostKey.publicKey,
    };
  }

  async start(port = 0): Promise<this> {
    if (port === 0) {
      [this.hostKey, this.userKey] = [await makeKeyPair("host"), await makeKeyPair("user")];
    }
    this.server = new ssh2.Server({ hostKeys: [this.hostKey.privateKey] }, (client) => this.serve(client));
    await new Promise<void>((resolve) => this.server?.listen(port, "127.0.0.1", resolve));
    this.lastPort = (this.server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) {
      client.end();
    }
    await new Promise<void>((resolve) => (this.server ? this.server.close(() => resolve()) : resolve()));
  }

  private serve(client: ssh2.Connection): void {
    this.connections += 1;
    this.clients.add(client);
    if (this.dropped > 0) {
      this.dropped -= 1;
      client.end();
      return;
    }
    client.on("ready", () => {
      if (this.endedAfterLogin > 0) {
        this.endedAfterLogin -= 1;
        client.end();
      }
    });
    client.on("close", () => this.clients.delete(client));
    client.on("error", () => undefined);
    const ours = ssh2.utils.parseKey(this.userKey.publicKey);
    client.on("authentication", (context) => {
      const known =
        context.method === "publickey" && !(ours instanceof Error) && context.key.data.equals(ours.getPublicSSH());
      if (!known || this.refusals > 0) {
        this.refusals -= context.method === "publickey" ? 1 : 0;
        context.reject(["publickey"]);
        return;
      }
      context.accept();
    });
    client.on("session", (accept, reject) => {
      if (this.refusedSessions > 0) {
        this.refusedSessions -= 1;
        reject();
        return;
      }
      accept().on("exec", (acceptExec, _reject, { command }) => this.execute(client, acceptExec(), command));
    });
  }

  private execute(client: ssh2.Connection, channel: ssh2.ServerChannel, command: string): void {
    let stdin = "";
    channel.on("data", (chunk: Buffer) => {
      stdin += chunk.toString();
    });
    channel.on("end", async () => {
      const asked = { command, stdin };
      this.asked.push(asked);
      const { stdout = "", stderr = "", code = 0 } = await this.answer(asked);
      channel.write(stdout);
      channel.stderr.write(stderr);
      if (code === "lost") {
        client.end();
      } else if (typeof code === "object") {
        channel.exit(code.signal);
        channel.end();
      } else {
        channel.exit(code);
        channel.end();
      }
    });
  }
}
