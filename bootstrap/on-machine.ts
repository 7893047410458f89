/**
 * What we run on machines: the scripts that their user data brought, by name, and later ones that are sent for one run.
 */
import { posix } from "node:path";
import type { Context } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import { scriptText } from "./scripts";
import { runOnMachine, type SshAccess } from "./ssh";
import { libraryFolder } from "./user-data";

export interface MachineScript {
  /** What is being done, as in "joining the cluster". */
  readonly operation: string;
  readonly machine: string;
  /** The script's file name and its arguments: words without blanks or quotes. */
  readonly script: readonly string[];
  readonly stdin?: string;
  /** A line that is written to a file before the script runs, in a folder that is made for it. */
  readonly firstLine?: { readonly text: string; readonly file: string };
  /** In seconds, with the wait for the machine to answer. */
  readonly seconds: number;
}

/** How far a machine's bootstrap is: the names that the scripts mark. */
export type Milestone = "prepared" | "joinable" | "initialized";

/**
 * Runs one of our scripts as root, where the machine's clock agrees with this computer's.
 * Where cloud-init brought none, says what cloud-init has to say about that.
 */
export async function runScript(access: SshAccess, script: MachineScript, context: Context): Promise<string> {
  const { firstLine, script: words, stdin = "", ...rest } = script;
  const program = `${libraryFolder}/${words.map(plainWord).join(" ")}`;
  if (firstLine === undefined) {
    return await runOnMachine(
      access,
      { ...rest, stdin, command: () => `${ifScriptsAreMissing}; ${ifClockIsOff()}; exec sudo -n ${program}` },
      context,
    );
  }
  const file = plainWord(firstLine.file);
  const write = `mkdir -p ${posix.dirname(file)} && IFS= read -r line && printf "%s\\n" "$line" >${file}`;
  const command = () => `${ifScriptsAreMissing}; ${ifClockIsOff()}; exec sudo -n bash -c '${write} && exec ${program}'`;
  return await runOnMachine(access, { ...rest, stdin: `${firstLine.text}\n${stdin}`, command }, context);
}

/** A script of ours that is not on the machine, with the one argument that it takes. */
export interface SentScript extends Omit<MachineScript, "script" | "stdin"> {
  /** Its file name in bootstrap/scripts/sent. */
  readonly script: string;
  /** One line. */
  readonly argument: string;
}

/**
 * Runs a script that the machine's user data did not bring, since that is only for new machines: argument and script
 * travel on standard input.
 */
export async function runSentScript(access: SshAccess, sent: SentScript, context: Context): Promise<string> {
  const { script, argument, ...rest } = sent;
  const command = `exec sudo -n bash -c 'IFS= read -r argument && exec bash -s -- "$argument"'`;
  const stdin = `${argument}\n${scriptText(`sent/${script}`)}`;
  return await runOnMachine(access, { ...rest, command, stdin }, context);
}

/** Waits, on the machine, until its bootstrap is that far. Ends with the failed step and the log's end when it failed. */
export async function awaitMilestone(
  access: SshAccess,
  machine: string,
  milestone: Milestone,
  context: Context,
  script: readonly string[] = ["wait.sh", milestone],
): Promise<string> {
  const seconds = timeLimits.apiServing;
  const operation = "bringing up the machine";
  return await runScript(
    access,
    { operation, machine, script: [...script, String(seconds)], seconds: seconds + timeLimits.sshReady },
    context,
  );
}

const ifScriptsAreMissing =
  `sudo -n test -x ${libraryFolder}/wait.sh || { echo "cloud-init did not write this machine's scripts; it says:" >&2; ` +
  "df -h / | grep -E ' (9[89]|100)% ' >&2; sudo -n grep -hE 'WARNING|ERROR|Traceback' /var/log/cloud-init.log >&2; exit 1; }";

/** Made as late as possible, since a connection may take minutes. Machines of an earlier version have no such script. */
function ifClockIsOff(): string {
  const script = `${libraryFolder}/clock.sh`;
  return `[ ! -x ${script} ] || sudo -n ${script} ${Math.floor(Date.now() / 1000)} || exit`;
}

/** The words come from our own code and validated names; anything a shell would read otherwise is a bug. */
function plainWord(word: string): string {
  if (!/^[A-Za-z0-9._:/@+-]+$/.test(word)) {
    throw new Error(`${JSON.stringify(word)} cannot be an argument of a script on a machine`);
  }
  return word;
}
