/**
 * `kubeconfig`: prints the cluster's kubeconfig, or merges it into a file, which is the only way a file is written.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { messageOf, UserError } from "../cloud/errors";
import { unwritable } from "../setup/unwritable";
import { writeFileAtomically } from "../setup/write-file";
import type { Arguments } from "./arguments";
import type { Interruption } from "./interruption";
import { noteKubeconfig } from "./kubeconfig-files";
import { print } from "./print";
import { locateStack, openSession, type Session, say } from "./session";
import { stackExists } from "./stack";
import { UsageError } from "./usage-error";

export interface KubeconfigArguments extends Arguments {
  readonly options: { readonly output: string | undefined; readonly merge: boolean; readonly switch: boolean };
}

export interface Destination {
  /** The file to merge into; `undefined` prints. */
  readonly file?: string;
  /** Whether the file's current context becomes this cluster's. */
  readonly switch: boolean;
}

export async function kubeconfig(args: KubeconfigArguments, interruption: Interruption): Promise<number> {
  const destination = destinationOf(args.options);
  const stack = await locateStack(args);
  const text = await kubeconfigOf(await openSession(stack, interruption, interruption.signal));
  if (destination.file === undefined) {
    await print(text);
  } else {
    const name = await mergeIntoFile(destination.file, text, destination.switch);
    // Without the note, down has nothing to say of that file; the kubeconfig is written all the same.
    await noteKubeconfig(stack, destination.file, name).catch(() => undefined);
  }
  return 0;
}

/** Where the kubeconfig goes by what the person has given. */
export function destinationOf(
  { output, merge, switch: switches }: KubeconfigArguments["options"],
  environment = process.env,
): Destination {
  if (output !== undefined && merge) {
    throw new UsageError("--output FILE and --merge name two files: one of them is allowed.");
  }
  const file = merge ? defaultFile(environment) : output;
  if (switches && file === undefined) {
    throw new UsageError("--switch goes with --output FILE or --merge: it changes the current context of that file.");
  }
  return { switch: switches, ...(file !== undefined && { file: resolve(file.replace(/^~(?=\/)/, homedir())) }) };
}

async function kubeconfigOf({ stack, pulumi }: Session): Promise<string> {
  const none = `The stack ${stack.name} has no kubeconfig yet: "npm run up" makes the cluster.`;
  if (!(await stackExists(stack, pulumi))) {
    throw new UserError(none);
  }
  try {
    const text = await pulumi.ask(["stack", "output", "kubeconfig", "--show-secrets", "--stack", stack.name]);
    return `${text.trimEnd()}\n`;
  } catch (error) {
    throw /does not have output property/.test(messageOf(error)) ? new UserError(none) : error;
  }
}

/** @returns the name that this cluster's entries have there */
async function mergeIntoFile(file: string, text: string, switches: boolean): Promise<string> {
  const { mergeKubeconfig } = await import("./kubeconfig-merge");
  const present = await contentOf(file);
  const { merged, replaced, name } = mergeKubeconfig(present, text, { file, switch: switches });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomically(file, merged);
  say(`Wrote the kubeconfig to ${file}.${replaced.length > 0 ? ` Replaced there: ${replaced.join(", ")}.` : ""}`);
  return name;
}

async function contentOf(file: string): Promise<string> {
  try {
    return existsSync(file) ? await readFile(file, "utf8") : "";
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** Where kubectl looks: the first file of KUBECONFIG, else ~/.kube/config. */
function defaultFile(environment: NodeJS.ProcessEnv): string {
  const [first] = (environment.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  return first ?? join(homedir(), ".kube", "config");
}
