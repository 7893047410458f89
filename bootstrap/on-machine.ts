/**
 * What we run on machines: the scripts that their user data brought, by name.
 */
import type { Context } from "../cloud/resource";
import { timeLimits } from "../cloud/time-limits";
import { runOnMachine, type SshAccess } from "./ssh";
import { libraryFolder } from "./user-data";

export interface MachineScript {
  /** What is being done, as in "joining the cluster". */
  readonly operation: string;
  readonly machine: string;
  /** The script's file name and its arguments: words without blanks or quotes. */
  readonly script: readonly string[];
  readonly stdin?: string;
  /** In seconds, with the wait for the machine to answer. */
  readonly seconds: number;
}

/** How far a machine's bootstrap is: the names that the scripts mark. */
export type Milestone = "prepared" | "joinable" | "initialized";

/** Runs one of our scripts as root. Where cloud-init brought none, says what cloud-init has to say about that. */
export async function runScript(access: SshAccess, script: MachineScript, context: Context): Promise<string> {
  const words = script.script.map(plainWord);
  const command = `${ifScriptsAreMissing}; exec sudo -n ${libraryFolder}/${words.join(" ")}`;
  return await runOnMachine(access, { ...script, command }, context);
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
  "sudo -n grep -hE 'WARNING|ERROR|Traceback' /var/log/cloud-init.log >&2; exit 1; }";

/** The words come from our own code and validated names; anything a shell would read otherwise is a bug. */
function plainWord(word: string): string {
  if (!/^[A-Za-z0-9._:/@-]+$/.test(word)) {
    throw new Error(`${JSON.stringify(word)} cannot be an argument of a script on a machine`);
  }
  return word;
}
