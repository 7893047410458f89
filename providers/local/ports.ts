/**
 * Ports on this computer's loopback address: chosen once for a machine's whole life.
 */
import { createServer } from "node:net";
import { UserError } from "../../cloud/errors";
import { shortHash } from "../../cloud/names";

/** Below the ports that systems hand out on their own, which begin at 32768. */
export const portRange = { first: 20_000, count: 10_000 } as const;

export const loopback = "127.0.0.1";

/**
 * The free port nearest to a place that the name decides, so that a machine made again mostly gets the same one.
 *
 * @param taken ports that others have, also while they are stopped; the chosen one is added
 */
export async function choosePort(name: string, taken: Set<number>, isFree = portIsFree): Promise<number> {
  for (const port of portsFrom(name)) {
    if (!taken.has(port)) {
      taken.add(port);
      if (await isFree(port)) {
        return port;
      }
    }
  }
  const last = portRange.first + portRange.count - 1;
  throw new UserError(`None of this computer's ports ${portRange.first} to ${last} is free; machines need some.`);
}

/** Every port of the range, beginning at the name's own place. */
export function* portsFrom(name: string): Generator<number> {
  const start = Number.parseInt(shortHash(name), 16) % portRange.count;
  for (let offset = 0; offset < portRange.count; offset++) {
    yield portRange.first + ((start + offset) % portRange.count);
  }
}

function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: loopback, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
