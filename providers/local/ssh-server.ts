/**
 * Whether a machine's SSH server answers: the one way into it, so a machine without it needs a restart.
 */
import { connect } from "node:net";
import type { Context } from "../../cloud/resource";
import { type Look, waitUntil } from "../../cloud/retry";
import { loopback } from "./ports";

/** The pause between connecting and the server's first words is a few milliseconds; a busy computer gets some more. */
const bannerMilliseconds = 3000;

/**
 * Waits until the SSH server that is published at that port answers.
 *
 * @throws DeadlineError with what was found instead
 */
export async function awaitSshServer(
  machine: string,
  port: number,
  seconds: number,
  context: Pick<Context, "signal">,
): Promise<void> {
  const wait = { description: `the SSH server of ${machine} to answer`, seconds, signal: context.signal };
  await waitUntil(wait, () => lookAtSshServer(port));
}

/** One look: connects, and reads whether an SSH server introduces itself. */
function lookAtSshServer(port: number): Promise<Look<true>> {
  return new Promise((resolve) => {
    const socket = connect({ host: loopback, port });
    const end = (look: Look<true>) => {
      socket.destroy();
      resolve(look);
    };
    socket.setTimeout(bannerMilliseconds, () => end({ pending: `${loopback}:${port} says nothing` }));
    socket.once("error", ({ message }) => end({ pending: message }));
    socket.once("close", () => end({ pending: `${loopback}:${port} closes the connection` }));
    socket.once("data", (chunk) =>
      end(
        chunk.toString("latin1").startsWith("SSH-")
          ? { found: true }
          : { pending: `${loopback}:${port} speaks no SSH` },
      ),
    );
  });
}
