/**
 * The data file that a machine's scripts read: KEY='value' lines, quoted for any POSIX shell.
 * Values reach scripts only this way; no script is ever put together from text.
 */
import { UserError } from "../cloud/errors";

/** What the scripts know of their machine, by the names they use. */
export interface MachineData {
  readonly ROLE: "control-plane" | "worker";
  readonly CLUSTER: string;
  /** The host name and node name. */
  readonly MACHINE: string;
  /** The exact version, without "v". */
  readonly KUBERNETES_VERSION: string;
  readonly ENDPOINT_NAME: string;
  readonly ENDPOINT_PORT: string;
}

/** The text of the data file, in the order of its keys. */
export function machineDataFile(data: MachineData): string {
  return Object.entries(data)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${shellQuoted(key, value)}\n`)
    .join("");
}

function shellQuoted(key: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(value)) {
    throw new UserError(
      `${key} of a machine's data has a line end or another control character; plain text is allowed.`,
    );
  }
  return `'${value.replaceAll("'", "'\\''")}'`;
}
