/**
 * The container engine, podman or docker, as a command that is run with a list of arguments and never through a shell.
 */
import { execa, type ResultPromise } from "execa";
import { RemoteError, TransientError, UserError } from "../../cloud/errors";
import { retryTransient } from "../../cloud/retry";
import { timeLimits } from "../../cloud/time-limits";
import { withAdvice } from "./engine-advice";

export const engineNames = ["podman", "docker"] as const;
export type EngineName = (typeof engineNames)[number];

export interface EngineCall {
  /** What goes to the command's standard input. */
  readonly stdin?: string | Uint8Array;
  /** The time limit, in seconds. @default timeLimits.containerEngine */
  readonly seconds?: number;
  readonly signal?: AbortSignal;
  /** Where the engine may put temporary files. @default its own choice */
  readonly temporaryFolder?: string | undefined;
}

export interface ContainerEngine {
  readonly name: EngineName;
  /**
   * Runs the engine's command and gives what it prints.
   *
   * @param operation what is being done, for the error: "starting machine dev-workers-1"
   * @throws TransientError when the engine is busy or cannot be reached, RemoteError when it refuses
   */
  run(operation: string, args: readonly string[], call?: EngineCall): Promise<string>;
}

/** The engine of that name, on PATH. */
export function containerEngine(name: EngineName): ContainerEngine {
  return {
    name,
    run(operation, args, call = {}) {
      const wait = {
        description: name,
        seconds: timeLimits.containerEngineBusy,
        pauseMilliseconds: 500,
        ...(call.signal && { signal: call.signal }),
      };
      return retryTransient(wait, () => runOnce(name, operation, args, call));
    },
  };
}

/** What Pulumi needs and no container engine: daemons that it starts, as its name server, keep their environment for weeks. */
const withoutSecrets = { PULUMI_CONFIG_PASSPHRASE: undefined, PULUMI_ACCESS_TOKEN: undefined };

async function runOnce(
  name: EngineName,
  operation: string,
  args: readonly string[],
  { stdin, seconds = timeLimits.containerEngine, signal, temporaryFolder }: EngineCall,
): Promise<string> {
  const running = execa(name, args, {
    input: stdin ?? "",
    // What the engine leaves running for a machine must not hold on to the project's folder.
    cwd: "/",
    // The words of its errors are compared, so they must be the same in every country.
    env: { LC_ALL: "C", LANG: "C", ...withoutSecrets, ...(temporaryFolder && { TMPDIR: temporaryFolder }) },
    timeout: seconds * 1000,
    forceKillAfterDelay: secondsToEnd * 1000,
    reject: false,
    stripFinalNewline: true,
    ...(signal && { cancelSignal: signal }),
  });
  // What the engine has left behind may hold its output open for ever, also once it was ended itself.
  const patience = setTimeout(() => leaveOutput(running), (seconds + secondsToEnd + 1) * 1000);
  const result = await running.finally(() => clearTimeout(patience));
  if (result.failed) {
    throw engineFailure(name, operation, result, seconds);
  }
  return result.stdout;
}

/** How long a command is given to end when it is told to; then it is killed. */
const secondsToEnd = 5;

function leaveOutput({ stdout, stderr }: ResultPromise): void {
  stdout?.destroy();
  stderr?.destroy();
}

interface FailedCall {
  readonly exitCode?: number | undefined;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly code?: string | undefined;
  readonly shortMessage?: string | undefined;
}

function engineFailure(name: EngineName, operation: string, call: FailedCall, seconds: number): Error {
  if (call.code === "ENOENT") {
    return new UserError(`${name} is not installed, or not on PATH.`);
  }
  if (call.code === "EACCES") {
    return new UserError(`${name} is there, but this user may not run it.`);
  }
  if (call.timedOut) {
    return new RemoteError(operation, name, `no answer within ${seconds} s`);
  }
  if (call.isCanceled) {
    return new RemoteError(operation, name, "the run was interrupted");
  }
  const words = call.stderr.trim() || call.shortMessage || "";
  const failure = new RemoteError(operation, name, withAdvice(name, words), call.exitCode);
  return isPassing(words) ? new TransientError(failure.message) : failure;
}

/** Whether the engine says that it is not there right now, or busy. */
export function isPassing(words: string): boolean {
  return passing.test(words);
}

/** Whether the engine refused because an address, a range, a name or a port is somebody else's already. */
export function isConflict(error: unknown): boolean {
  return error instanceof RemoteError && conflict.test(error.detail);
}

/** Whether the engine says that there is no such container, network or image. */
export function isAbsent(error: unknown): boolean {
  return error instanceof RemoteError && absent.test(error.detail);
}

// What podman and docker say, in several versions.
const passing =
  /cannot connect to|is the docker daemon running|connection refused|connection reset|database is locked|resource temporarily unavailable|i\/o timeout|context deadline exceeded/i;
const conflict = /already (in use|allocated|used)|is not available in range set|overlaps with other one/i;
// Of a missing file or program they say "no such file" and "not found" too, and that proves nothing.
const thing = "(container|network|volume|image|object)s?";
const absent = new RegExp(
  `no such ${thing}\\b|${thing} (\\S+ )?not (found|known)|no ${thing} with name|unable to find ${thing}\\b`,
  "i",
);
