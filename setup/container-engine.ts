/**
 * Finds the container engine on this computer, podman or docker, and offers to install one where that can be done.
 */
import { messageOf, UserError } from "../cloud/errors";
import { type ContainerEngine, containerEngine, type EngineName, engineNames } from "../providers/local/engine";
import { bypassPacketFilter } from "../providers/local/packet-filter";
import { raiseInotifyLimits } from "./inotify-limits";
import { canInstallPodman, installPodman, installWords } from "./install-podman";
import { startWithComputer } from "./start-with-computer";
import type { Step } from "./step";

export interface EngineOptions {
  /** Install without asking. */
  readonly yes: boolean;
  /** Asks the person; `undefined` where there is no terminal. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
}

/**
 * The engine that answers: the one that KUBICORN_ENGINE names, else podman, else docker.
 *
 * @throws UserError that says what was tried and what to install
 */
export async function findContainerEngine(signal?: AbortSignal): Promise<ContainerEngine> {
  const found = await lookForEngine(signal);
  if ("problems" in found) {
    throw noEngine(found.problems);
  }
  return found;
}

/** The engine that answers; where there is none, one is installed if that is possible and allowed. */
export async function ensureContainerEngine(step: Step, options: EngineOptions): Promise<EngineName> {
  const found = await lookForEngine(step.signal);
  if ("problems" in found) {
    await offerPodman(found.problems, step, options);
  }
  const engine = "problems" in found ? await findContainerEngine(step.signal) : found;
  await raiseInotifyLimits(step);
  await bypassPacketFilter((message) => step.say(message));
  if (engine.name === "podman") {
    await startWithComputer(step);
  }
  return engine.name;
}

async function lookForEngine(signal?: AbortSignal): Promise<ContainerEngine | { problems: string[] }> {
  const problems: string[] = [];
  for (const name of wantedEngines()) {
    const engine = containerEngine(name);
    try {
      // Of docker this asks the daemon too, and of podman on a computer without Linux, its virtual machine.
      await engine.run("asking for its version", ["version"], { seconds: 20, ...(signal && { signal }) });
      const refusal = await refusesPrivileges(engine, signal);
      if (refusal === undefined) {
        return engine;
      }
      problems.push(`${name}: ${refusal}`);
    } catch (error) {
      // What it says at the end is the reason; before that it may have told of itself.
      const lines = messageOf(error).trim().split("\n").slice(-2).join(" ");
      problems.push(lines.startsWith(`${name}: `) ? lines : `${name}: ${lines}`);
    }
  }
  return { problems };
}

/** Why the engine cannot give machines what they need though it answers: it runs without the rights of root. */
async function refusesPrivileges(engine: ContainerEngine, signal?: AbortSignal): Promise<string | undefined> {
  // Podman has the rights of whoever calls it, docker those of its daemon.
  if (engine.name === "podman" && process.getuid?.() === 0) {
    return undefined;
  }
  const asked = {
    podman: ["info", "--format", "{{.Host.Security.Rootless}}"],
    docker: ["info", "--format", "{{.SecurityOptions}}"],
  }[engine.name];
  const told = await engine.run("asking for its rights", asked, { seconds: 20, ...(signal && { signal }) });
  return /^true$|name=rootless/m.test(told)
    ? "it runs without the rights of root, and machines need them. Run as root, or use the docker of the whole computer."
    : undefined;
}

function wantedEngines(): readonly EngineName[] {
  const wanted = process.env.KUBICORN_ENGINE;
  if (!wanted) {
    return engineNames;
  }
  const name = engineNames.find((known) => known === wanted);
  if (!name) {
    throw new UserError(`KUBICORN_ENGINE is "${wanted}"; ${engineNames.join(" or ")} is allowed.`);
  }
  return [name];
}

async function offerPodman(problems: readonly string[], step: Step, { yes, ask }: EngineOptions): Promise<void> {
  if (!wantedEngines().includes("podman") || !(await canInstallPodman())) {
    throw noEngine(problems);
  }
  if (!yes && !ask) {
    throw noEngine(problems, "Or add --yes, and podman is installed now.");
  }
  if (yes || (await ask?.(`No container engine answers. Install podman with "${installWords}"?`))) {
    return installPodman(step);
  }
  throw noEngine(problems);
}

function noEngine(problems: readonly string[], more = ""): UserError {
  return new UserError(
    "Machines on this computer are containers, and no container engine answers here: install podman (on Debian and " +
      `Ubuntu "${installWords}") or docker, or start the one that is installed. ${more}`.trim() +
      `\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
  );
}
