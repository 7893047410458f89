/**
 * Set-up steps that take a while: each says what it does, how far it is and how long it took.
 * Steps run side by side, so every line begins with the step's title. All of it goes to stderr.
 */

export interface Step {
  /** Prints one line. */
  say(message: string): void;
  /** Prints how far it is, in one line, where the last such line of this step is old enough. */
  progress(message: string): void;
  /** Given when the person interrupts; a step ends soon after. */
  readonly signal: AbortSignal;
}

export interface StepOptions {
  /** Ends the step early. @default never */
  readonly signal?: AbortSignal;
  /** Prints nothing at all for a step that has nothing to say, since all of it was there. @default false */
  readonly quiet?: boolean;
  /** Takes each line, without its line end. @default stderr */
  readonly print?: (line: string) => void;
}

/** The pause between two lines of progress; two steps may run side by side; milliseconds. */
const progressEvery = 20_000;

/** Runs one step between the lines "title ..." and "title: done in N s". */
export async function withStep<T>(
  title: string,
  run: (step: Step) => Promise<T>,
  options: StepOptions = {},
): Promise<T> {
  const print = options.print ?? printToStderr;
  const signal = options.signal ?? new AbortController().signal;
  const start = performance.now();
  let announced = false;
  const announce = () => {
    if (!announced) {
      announced = true;
      print(`${title} ...`);
    }
  };
  const say = (message: string) => {
    announce();
    print(`${title}: ${message}`);
  };
  if (!options.quiet) {
    announce();
  }
  try {
    const result = await run({ say, progress: seldom(say), signal });
    if (announced) {
      print(`${title}: done in ${seconds(start)} s`);
    }
    return result;
  } catch (error) {
    say(`${signal.aborted ? "interrupted" : "failed"} after ${seconds(start)} s`);
    throw error;
  }
}

/** The same, for lines that tell how far something is: those that come too soon after another are left out. */
export function seldom(say: (message: string) => void): (message: string) => void {
  let told = performance.now();
  return (message) => {
    if (performance.now() - told >= progressEvery) {
      told = performance.now();
      say(message);
    }
  };
}

function seconds(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(1);
}

function printToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
