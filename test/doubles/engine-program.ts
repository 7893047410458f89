/**
 * A container engine that is a program of the test's own on PATH: it writes down how it is called and answers what the test
 * has laid down, late, cut, in another language or not at all.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export interface Answer {
  /** Found in the call's arguments joined by spaces. The first answer that matches is given. */
  readonly to: string;
  readonly stdout?: string;
  readonly stderr?: string;
  /** @default 0 */
  readonly exitCode?: number;
  /** How many calls it answers; the next ones get what stands after it. @default all */
  readonly times?: number;
  /** How late it answers, in milliseconds. */
  readonly after?: number;
  /** Gives a list without the heading that a table has: the answer was cut off. */
  readonly cut?: boolean;
}

export class EngineProgram {
  private readonly folder = mkdtempSync(join(tmpdir(), "kubicorn-engine-"));
  private readonly answersFile = join(this.folder, "answers.json");
  private readonly callsFile = join(this.folder, "calls");
  private readonly path = process.env.PATH;

  constructor(name: "podman" | "docker" | "systemctl", answers: readonly Answer[]) {
    const bin = join(this.folder, "bin");
    mkdirSync(bin);
    writeFileSync(this.answersFile, JSON.stringify(answers));
    writeFileSync(join(bin, name), program(this.answersFile, this.callsFile));
    chmodSync(join(bin, name), 0o755);
    process.env.PATH = [bin, this.path].join(delimiter);
  }

  /** Every call so far, as its arguments joined by spaces. */
  get calls(): string[] {
    return existsSync(this.callsFile) ? readFileSync(this.callsFile, "utf8").trimEnd().split("\n") : [];
  }

  remove(): void {
    process.env.PATH = this.path;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function program(answersFile: string, callsFile: string): string {
  return `#!${process.execPath}
const fs = require("node:fs");
const call = process.argv.slice(2).join(" ");
const calls = fs.existsSync(${JSON.stringify(callsFile)}) ? fs.readFileSync(${JSON.stringify(callsFile)}, "utf8").split("\\n") : [];
fs.appendFileSync(${JSON.stringify(callsFile)}, call + "\\n");
const answer = JSON.parse(fs.readFileSync(${JSON.stringify(answersFile)}, "utf8")).find(
  ({ to, times }) => call.includes(to) && (times ?? Infinity) > calls.filter((each) => each.includes(to)).length,
) ?? { stderr: "unexpected call: " + call, exitCode: 99 };
const heading = /table \\{\\{\\.(\\w+)/.exec(call)?.[1].toUpperCase();
setTimeout(() => {
  if (heading && !answer.cut && !answer.exitCode) {
    process.stdout.write(heading === "ID" ? "CONTAINER ID\\n" : heading + "\\n");
  }
  process.stdout.write(answer.stdout ?? "");
  process.stderr.write(answer.stderr ?? "");
  process.exitCode = answer.exitCode ?? 0;
}, answer.after ?? 0);
`;
}
