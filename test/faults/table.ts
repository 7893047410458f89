/**
 * The table of docs/faults.md, written by a run of the whole matrix that is asked for it (KUBICORN_FAULTS=write).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, type Interruption, interruptions } from "./interrupted-run";
import { points } from "./points";

interface Cell {
  readonly point: string;
  readonly how: Interruption;
  readonly ended: Ended;
  /** What the next run says about this one. */
  readonly told: string;
}

const page = join(__dirname, "../../docs/faults.md");
const cells: Cell[] = [];

export function record(cell: Cell): void {
  cells.push(cell);
}

/** Puts the measured table between the marks of the page. */
export function writeTable(): void {
  if (process.env.KUBICORN_FAULTS !== "write") {
    return;
  }
  const text = readFileSync(page, "utf8");
  const marks = /(<!-- measured -->\n)[\s\S]*(<!-- end -->)/;
  writeFileSync(
    page,
    text.replace(marks, (_all, begin, end) => `${begin}\n${table()}\n\n${end}`),
  );
}

function table(): string {
  const head = ["interrupted at", ...interruptions];
  const lines = points.map(({ name }) => [name, ...interruptions.map((how) => cellOf(name, how))]);
  return [head, head.map(() => "---"), ...lines].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function cellOf(point: string, how: Interruption): string {
  const cell = cells.find((one) => one.point === point && one.how === how);
  return cell === undefined ? "" : `${cell.ended.seconds.toFixed(1)} s, exit code ${cell.ended.exitCode}`;
}
