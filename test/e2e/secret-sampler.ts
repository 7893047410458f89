/**
 * Looks every 50 ms at what anybody on this computer could see of a run: command lines, environments, temporary files.
 * What a secret is can be found out later; every different text is kept.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Seen {
  /** Where it was seen, as "command line of process 12". */
  readonly where: string;
  readonly text: string;
}

export class SecretSampler {
  private readonly seen = new Map<string, Seen>();
  /** The command lines of processes, by their ids. */
  private readonly commands = new Map<string, string>();
  private readonly timer: NodeJS.Timeout;
  looks = 0;

  constructor(private readonly temporary: string) {
    this.timer = setInterval(() => this.look(), 50);
  }

  stop(): void {
    this.look();
    clearInterval(this.timer);
  }

  /** Where one of these texts was seen. */
  find(texts: readonly string[], within: (seen: Seen) => boolean = () => true): string[] {
    return [...this.seen.values()]
      .filter((one) => within(one) && texts.some((text) => one.text.includes(text)))
      .map(({ where }) => where);
  }

  private look(): void {
    this.looks += 1;
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
      const command = textOf(`/proc/${id}/cmdline`).replaceAll("\0", " ");
      if (command && this.commands.get(id) !== command) {
        this.commands.set(id, command);
        this.keep(`command line of ${command.slice(0, 80)}`, command);
        this.keep(`environment of ${command.slice(0, 80)}`, textOf(`/proc/${id}/environ`));
      }
    }
    for (const file of filesBelow(this.temporary)) {
      this.keep(`temporary file ${file}`, textOf(file));
    }
  }

  private keep(where: string, text: string): void {
    this.seen.set(`${where} ${text}`, { where, text });
  }
}

/** The text of a file that may vanish meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
