/**
 * The labels on everything that is made on this computer: by them, and never by a name alone, a thing is known as ours.
 */
import { UserError } from "../../cloud/errors";

export const labelNames = {
  cluster: "kubicorn.io/cluster",
  /** `project/stack`. */
  owner: "kubicorn.io/owner",
  /** Six hexadecimal digits that stand for this very stack: two clones of a project have the same owner and not this. */
  identity: "kubicorn.io/identity",
  machine: "kubicorn.io/machine",
  /** Of a volume: the name of the container that it is for. */
  volumeOf: "kubicorn.io/volume-of",
  network: "kubicorn.io/network",
  address: "kubicorn.io/address",
  sshPort: "kubicorn.io/ssh-port",
  /** 0 where the machine has no API server. */
  apiPort: "kubicorn.io/api-port",
  /** A hash of what the machine was made from. */
  recipe: "kubicorn.io/recipe",
} as const;

export interface Ownership {
  readonly cluster: string;
  readonly owner: string;
  readonly identity: string;
}

/** The labels that say whose a thing is. */
export function ownershipLabels({ cluster, owner, identity }: Ownership): Record<string, string> {
  return { [labelNames.cluster]: cluster, [labelNames.owner]: owner, [labelNames.identity]: identity };
}

/** Labels as arguments of the engine's command. */
export function labelArguments(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]);
}

/** @throws UserError when the thing of that name is somebody else's */
export function requireOurs(what: string, labels: Readonly<Record<string, string>>, { identity }: Ownership): void {
  if (labels[labelNames.identity] !== identity) {
    const owner = labels[labelNames.owner];
    throw new UserError(
      `${what} exists already and belongs to ${owner ? `another cluster (of ${owner})` : "somebody else"}. ` +
        "Remove it, or give this cluster another name.",
    );
  }
}
