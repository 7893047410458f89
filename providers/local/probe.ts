/**
 * What the container engine can do on this computer, found out by trying: which runtime starts a privileged container,
 * and under which limits. What one computer needs stops another, so nothing here is assumed.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../cloud/errors";
import { bootId } from "../../setup/boot-id";
import { cacheFolder } from "../../setup/cache";
import { writeFileAtomically } from "../../setup/write-file";
import type { ContainerEngine, EngineName } from "./engine";

/** Options of the command itself. crun, podman's first choice, cannot start on some computers where runc can. */
const runtimes: Readonly<Record<EngineName, readonly (readonly string[])[]>> = {
  podman: [[], ["--runtime", "runc"]],
  docker: [[]],
};

export interface Abilities {
  /** Options before the verb, as in `podman --runtime runc create`. */
  readonly options: readonly string[];
  /** Arguments of `create` and `run`. */
  readonly limits: readonly string[];
}

/** With fewer open files, systemd, etcd and containerd of a machine fail one after the other. */
const fewestOpenFiles = 4096;

const abilitiesSchema = z.object({ options: z.array(z.string()), limits: z.array(z.string()) });

/**
 * How a privileged container of the image is started here. The answer is kept until the engine or the computer changes.
 *
 * @throws UserError when it cannot be started in any way, with the engine's own words
 */
export function probeAbilities(engine: ContainerEngine, image: string): Promise<Abilities> {
  const key = `${engine.name} ${image}`;
  const asked = underWay.get(key) ?? probe(engine, image).finally(() => underWay.delete(key));
  underWay.set(key, asked);
  return asked;
}

/** Machines that are made side by side ask once. */
const underWay = new Map<string, Promise<Abilities>>();

async function probe(engine: ContainerEngine, image: string): Promise<Abilities> {
  const lowered = limitArguments(await readFile("/proc/self/limits", "utf8").catch(() => ""));
  const version = await engine.run("asking for its version", ["--version"]);
  const key = createHash("sha256")
    .update(`${version}\n${await bootId()}\n${image}\n${lowered.join(" ")}`)
    .digest("hex")
    .slice(0, 16);
  const file = join(cacheFolder(), "engines", `${engine.name}-${key}.json`);
  const known = await readKnown(file);
  if (known) {
    return known;
  }
  const abilities = await tryAll(engine, image, lowered);
  await mkdir(dirname(file), { recursive: true });
  await writeFileAtomically(file, JSON.stringify(abilities));
  return abilities;
}

async function tryAll(engine: ContainerEngine, image: string, lowered: readonly string[]): Promise<Abilities> {
  const failures: string[] = [];
  for (const options of runtimes[engine.name]) {
    // Without the right to raise limits, a container must ask for no more than this process may have.
    for (const limits of [[], lowered]) {
      try {
        const machineLike = ["--privileged", "--cgroupns=private", "--network", "none", ...limits];
        await engine.run("trying a privileged container", [
          ...options,
          ...["run", "--rm", ...machineLike, "--entrypoint", "/bin/true", image],
        ]);
        requireOpenFiles(limits);
        return { options, limits: [...limits] };
      } catch (error) {
        if (error instanceof UserError) {
          throw error;
        }
        failures.push(messageOf(error));
      }
    }
  }
  throw new UserError(
    `${engine.name} cannot start a privileged container on this computer, and machines are such containers. ` +
      `It says:\n${[...new Set(failures)].map((failure) => `  ${failure}`).join("\n")}\n` +
      `Run as root, allow privileged containers, or use the other engine (KUBICORN_ENGINE=podman or docker).`,
  );
}

/** The hard limits of a process, as /proc tells them, as arguments of the engine; at most what machines need. */
export function limitArguments(limits: string): string[] {
  const most = { nofile: ["Max open files", 1_048_576], nproc: ["Max processes", 32_768] } as const;
  return Object.entries(most).flatMap(([name, [title, needed]]) => {
    const hard = Number(new RegExp(`^${title}\\s+\\S+\\s+(\\d+)`, "m").exec(limits)?.[1] ?? needed);
    const limit = Math.min(hard, needed);
    return ["--ulimit", `${name}=${limit}:${limit}`];
  });
}

/** A limit that a container cannot leave, and in which no machine lives, is told before a machine is made. */
export function requireOpenFiles(limits: readonly string[]): void {
  const [, limit] = /nofile=(\d+)/.exec(limits.join(" ")) ?? [];
  if (limit !== undefined && Number(limit) < fewestOpenFiles) {
    throw new UserError(
      `This session may have at most ${limit} open files, and so may every machine that it makes, which needs ` +
        `${fewestOpenFiles}. Raise the hard limit (ulimit -Hn tells it; /etc/security/limits.conf sets it), or begin a ` +
        "new session, then run the same again.",
    );
  }
}

async function readKnown(file: string): Promise<Abilities | undefined> {
  try {
    return abilitiesSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}
