/**
 * A ratio of two measurements of the same run, with the bound that it has to keep.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "./measure";

export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** The most that it may be; none for a number that only stands beside another. */
  readonly bound?: number;
  /** What was measured, in words. */
  readonly detail: string;
}

const bounds: Record<string, number> = JSON.parse(readFileSync(join(__dirname, "bounds.json"), "utf8"));

export function ratio(name: string, ours: readonly number[], baseline: readonly number[], unit: string): Ratio {
  const [one, other] = [median(ours), median(baseline)];
  const value = Math.round((one / other) * 100) / 100;
  const bound = bounds[name];
  const detail = `${one.toFixed(2)} ${unit} / ${other.toFixed(2)} ${unit}, medians of ${ours.length}`;
  return { name, value, ...(bound !== undefined && { bound }), detail };
}

export function line({ name, value, bound, detail }: Ratio): string {
  const verdict = bound === undefined ? "" : value <= bound ? `at most ${bound}` : `OVER its bound of ${bound}`;
  return `${name.padEnd(42)} ${value.toFixed(2).padStart(6)}  ${verdict.padEnd(24)} ${detail}`;
}

/** What is being measured; standard output is for the ratios. */
export function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
