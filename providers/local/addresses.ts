/**
 * Where a new machine lives: its address on the cluster's network and its ports on this computer.
 * Both are fixed when it is made and stay the same for its life.
 */
import { UserError } from "../../cloud/errors";
import { addressAt, rangeOf } from "../../cloud/ranges";
import { allContainers, type Container } from "./container";
import type { ContainerEngine } from "./engine";
import { labelNames } from "./labels";
import { choosePort } from "./ports";

/** Addresses below it are for the network's own gateway and for the API endpoint. */
const firstOffset = 10;

export interface Place {
  readonly address: string;
  readonly sshPort: number;
  /** 0 where the machine has no API server. */
  readonly apiPort: number;
}

export interface PlaceRequest {
  readonly machine: string;
  readonly network: string;
  readonly range: string;
  readonly publishApi: boolean;
}

interface Taken {
  /** By the name of the network. */
  readonly addresses: Map<string, Set<string>>;
  readonly ports: Set<number>;
}

/**
 * Gives places to machines that are made side by side by this process.
 * What other processes take meanwhile shows itself as the engine's refusal: then {@link refuse} the place, and ask again.
 */
export class Places {
  private taken: Promise<Taken> | undefined;
  /** What the engine refused though no machine has it: it does not say whether for the address or for a port. */
  private readonly refused: { network: string; place: Place }[] = [];

  async choose(engine: ContainerEngine, request: PlaceRequest): Promise<Place> {
    this.taken ??= allContainers(engine).then((containers) => this.look(containers));
    const { addresses, ports } = await this.taken;
    const used = addresses.get(request.network) ?? new Set<string>();
    addresses.set(request.network, used);
    // No wait stands between the look and the entry, so no two machines are given one address.
    const address = lowestFree(request, used);
    used.add(address);
    const sshPort = await choosePort(`${request.network}/${request.machine}/ssh`, ports);
    const apiPort = request.publishApi ? await choosePort(`${request.network}/${request.machine}/api`, ports) : 0;
    return { address, sshPort, apiPort };
  }

  /** Looks anew at what is taken before the next choice, which will be another place than this one. */
  refuse(network: string, place: Place): void {
    this.refused.push({ network, place });
    this.taken = undefined;
  }

  private look(containers: readonly Container[]): Taken {
    const taken: Taken = { addresses: new Map(), ports: new Set() };
    for (const { labels } of containers) {
      const [address, sshPort, apiPort] = [
        labels[labelNames.address],
        labels[labelNames.sshPort],
        labels[labelNames.apiPort],
      ];
      note(taken, labels[labelNames.network] ?? "", {
        address: address ?? "",
        sshPort: Number(sshPort),
        apiPort: Number(apiPort),
      });
    }
    for (const { network, place } of this.refused) {
      note(taken, network, place);
    }
    return taken;
  }
}

function note({ addresses, ports }: Taken, network: string, { address, sshPort, apiPort }: Place): void {
  addresses.set(network, (addresses.get(network) ?? new Set()).add(address));
  ports.add(sshPort).add(apiPort);
}

function lowestFree({ machine, range: text }: PlaceRequest, used: ReadonlySet<string>): string {
  const range = rangeOf(text);
  // The last address of a range is the broadcast address.
  for (let offset = firstOffset; offset < range.size - 1; offset++) {
    const address = addressAt(range, offset);
    if (!used.has(address)) {
      return address;
    }
  }
  throw new UserError(
    `No address of ${text} is free for machine ${machine}. Choose a larger range in network.machines.`,
  );
}
