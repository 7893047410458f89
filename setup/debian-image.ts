/**
 * The first stage of the machine image: Debian with the packages of a machine, as an image in the engine's own store.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, UserError } from "../cloud/errors";
import { timeLimits } from "../cloud/time-limits";
import type { ContainerEngine } from "../providers/local/engine";
import { probeAbilities } from "../providers/local/probe";
import { bindMount, proxyLines } from "../providers/local/seclusion";
import { cacheFolder } from "./cache";
import { hasImage, inContainer } from "./engine-images";
import { httpGet } from "./http-get";
import { packageRoot } from "./package-root";
import { recipeHash } from "./recipe-hash";
import type { Step } from "./step";

const suite = "bookworm";
const published = `docker.io/library/debian:${suite}`;
const bootstrapped = `localhost/kubicorn-debian:${suite}`;
/** Runs the script that is named next, with the variables that standard input has. */
const withLinesExported = 'while read -r line; do export "$line"; done; exec sh "$0" "$@" </dev/null';

/** The reference of the image with all packages; made where it is not there. */
export async function ensureDebianImage(engine: ContainerEngine, step: Step): Promise<string> {
  const sources = join(packageRoot(), "images", "node");
  const recipe = [join(sources, "packages.txt"), join(sources, "build", "install-packages.sh")];
  const reference = `localhost/kubicorn-debian:${suite}-packages-${await recipeHash(recipe)}`;
  if (await hasImage(engine, reference)) {
    return reference;
  }
  const plain = await plainDebian(engine, step);
  step.say("installing the packages of a machine");
  const packages = (await readFile(join(sources, "packages.txt"), "utf8")).split("\n").filter((line) => line !== "");
  await inContainer(engine, await probeAbilities(engine, plain), {
    image: plain,
    // The packages come over this computer's own network: it has the name servers and proxies that work here.
    create: ["--network", "host", ...bindMount(sources, "/image")],
    // A proxy may have a password in it, and a container's environment and arguments stay in the image.
    command: ["sh", "-c", withLinesExported, "/image/build/install-packages.sh", ...packages],
    stdin: proxyLines(),
    operation: "installing the packages of a machine",
    result: reference,
    step,
  });
  return reference;
}

/** Debian as it is published where that can be reached, else made here by Debian's own installer. */
async function plainDebian(engine: ContainerEngine, step: Step): Promise<string> {
  for (const reference of [published, bootstrapped]) {
    if (await hasImage(engine, reference)) {
      return reference;
    }
  }
  const problem = await pull(engine, step);
  if (problem === undefined) {
    return published;
  }
  step.say(`${problem}; making a Debian system with debootstrap instead`);
  await bootstrap(engine, problem, step);
  return bootstrapped;
}

/** Why it could not be pulled, if so. */
async function pull(engine: ContainerEngine, step: Step): Promise<string | undefined> {
  try {
    // An engine tries for minutes where there is no internet; this look takes seconds.
    await httpGet("https://registry-1.docker.io/v2/", {}, step.signal).catch((error: unknown) => {
      if (!messageOf(error).includes("answered with status")) {
        throw error;
      }
    });
    step.say(`pulling ${published}`);
    await engine.run(`pulling ${published}`, ["pull", "--quiet", published], {
      seconds: timeLimits.imageStage,
      signal: step.signal,
    });
    return undefined;
  } catch (error) {
    step.signal.throwIfAborted();
    return `${published} cannot be pulled (${messageOf(error)})`;
  }
}

async function bootstrap(engine: ContainerEngine, problem: string, step: Step): Promise<void> {
  const { execa } = await import("execa");
  const folder = join(cacheFolder(), `debian-${process.pid}`);
  const archive = `${folder}.tar`;
  try {
    const made = await execa("debootstrap", ["--variant=minbase", suite, folder], {
      reject: false,
      cancelSignal: step.signal,
      env: { LC_ALL: "C" },
    });
    step.signal.throwIfAborted();
    if (made.failed) {
      const why =
        made.code === "ENOENT" ? "debootstrap is not installed" : made.stdout.split("\n").slice(-3).join("; ");
      throw new UserError(
        `A Debian system for the machines can be had in no way: ${problem}, and ${why || messageOf(made)}. ` +
          "Connect to the internet, or run as root on a Debian with the package debootstrap.",
      );
    }
    await execa(
      "tar",
      ["-C", folder, "-c", "--numeric-owner", "--exclude=./var/cache/apt/archives/*", "-f", archive, "."],
      {
        cancelSignal: step.signal,
      },
    );
    await engine.run("importing the Debian system", ["import", archive, bootstrapped], {
      seconds: timeLimits.imageStage,
      signal: step.signal,
    });
  } finally {
    await Promise.all([folder, archive].map((path) => rm(path, { recursive: true, force: true })));
  }
}
