/**
 * Pulumi's engine as the Reconciler needs it, over the Automation API. Programs run inline, in this process; a project's own
 * program where that is asked for.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type EngineEvent, LocalWorkspace, type PulumiFn, Stack } from "@pulumi/pulumi/automation";
import { UserError } from "../cloud/errors";
import { isPlainObject } from "../cloud/json";
import type { Model } from "../cloud/model";
import type { AuditedRow, Program, RunOptions, Snapshot, StackEngine, Step } from "../cloud/stack-engine";
import { tryLock } from "../setup/file-lock";
import { endedRuns } from "./ended-runs";
import { fileJournal, makeFolder } from "./journal";
import { onlyDeadLocks, removeLocks } from "./lock";
import { mendState } from "./mend-state";
import { modelProgram, type Root, rootIn, rowOfPart } from "./model-program";
import { PulumiCli } from "./pulumi-command";
import { readable } from "./readable-state";
import { recordedProgram } from "./recorded-program";
import { parseSnapshot, snapshotText } from "./snapshot";
import { type StackPlace, stateFileOf } from "./stack-place";
import { auditOf, FailureRecord, stepOf } from "./steps";
import { withUnfinished } from "./unfinished";

export interface PulumiEngineOptions extends StackPlace {
  /** The project's folder, with its Pulumi.yaml; this package must be found from there. */
  readonly workDir: string;
  /** The Pulumi CLI. @default the one on PATH */
  readonly program?: string;
  /** What Pulumi needs in its environment besides this process's own: the backend, the passphrase. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The file of the journal. @default .kubicorn/<stack>.json in the project's folder */
  readonly journalFile?: string;
  /** The component that the model's parts stand under. @default the Cluster that is recorded, else a new one's */
  readonly root?: Root;
  /** Whether the project's own program makes the model: then nothing that it makes besides is lost. @default false */
  readonly runsProject?: boolean;
  /** Told what Pulumi prints, as it comes. */
  readonly onOutput?: (text: string) => void;
  /** Told sentences about what was mended. */
  readonly tell?: (sentence: string) => void;
}

/** The engine of that stack, which must be there. */
export async function openEngine(options: PulumiEngineOptions): Promise<StackEngine> {
  const { program = "pulumi", workDir, environment = {} } = options;
  const cli = new PulumiCli({ program, workDir, environment });
  const workspace = await LocalWorkspace.create({ workDir, pulumiCommand: await cli.forAutomation() });
  const stack = await Stack.select(options.fullName, workspace);
  if (options.root !== undefined) {
    return new PulumiEngine(options, cli, stack);
  }
  const { resources } = await new PulumiEngine(options, cli, stack).read();
  return new PulumiEngine({ ...options, root: rootIn(resources) }, cli, stack);
}

class PulumiEngine implements StackEngine {
  readonly journal: StackEngine["journal"];
  /** Stands in the message of each of our runs, by which they are told from other tools' in the history. */
  private readonly run = randomBytes(6).toString("hex");
  private readonly tell: (sentence: string) => void;
  private readonly lockFile: string;

  constructor(
    private readonly options: PulumiEngineOptions,
    private readonly cli: PulumiCli,
    private readonly stack: Stack,
  ) {
    this.tell = options.tell ?? (() => undefined);
    const file = options.journalFile ?? join(options.workDir, ".kubicorn", `${options.stack}.json`);
    this.lockFile = `${file}.lock`;
    this.journal = fileJournal({
      file,
      run: this.run,
      ended: (since) => endedRuns(options, cli, since),
      tell: this.tell,
    });
  }

  async hold(): Promise<() => Promise<void>> {
    const { fullName } = this.options;
    makeFolder(dirname(this.lockFile));
    const found = await tryLock(this.lockFile);
    if ("release" in found) {
      return () => found.release();
    }
    throw new UserError(
      `The stack ${fullName} is in use: another change of it has been running since ` +
        `${new Date(found.since).toLocaleString()} (process ${found.pid} on ${found.hostname}). Wait until it has ended.`,
    );
  }

  async mend(): Promise<void> {
    if (await onlyDeadLocks(this.options)) {
      removeLocks(this.options);
      this.tell(`Took away the lock on the stack ${this.options.fullName}: the run that held it was killed.`);
    }
    const { taken, names, interrupted } = withUnfinished(await this.read());
    if (interrupted > 0) {
      await this.write(taken);
    }
    if (names.length > 0) {
      this.tell(`An interrupted run was making ${names.join(", ")}.`);
    }
  }

  async read(): Promise<Snapshot> {
    return (await this.readFolder()) ?? parseSnapshot(await this.cli.ask(["stack", "export", ...this.named()]));
  }

  async write(snapshot: Snapshot): Promise<void> {
    await this.cli.ask(["stack", "import", ...this.named()], { input: snapshotText(snapshot) });
  }

  async preview(program: Program, { signal }: RunOptions = {}): Promise<readonly Step[]> {
    const steps: Step[] = [];
    await this.watched({ onEvent: (event) => steps.push(...asList(stepOf(event))), signal }, async (run) => {
      await this.stack.preview({ ...run, ...(await this.toRun(program)) });
    });
    return steps;
  }

  async up(program: Program, { signal, onStep }: RunOptions = {}): Promise<void> {
    await this.watched({ onEvent: asSteps(onStep), signal, shows: true }, async (run) => {
      await this.stack.up({ ...run, ...(await this.toRun(program)) });
    });
  }

  async audit({ signal }: RunOptions = {}): Promise<readonly AuditedRow[]> {
    const seen = new Map<string, AuditedRow>();
    const onEvent = (event: EngineEvent) => {
      for (const row of asList(auditOf(event))) {
        seen.set(row.urn, row);
      }
    };
    await this.watched({ onEvent, signal }, async (run) => {
      await this.stack.previewRefresh({ ...run, runProgram: false });
    });
    return [...seen.values()];
  }

  async refresh(urns?: readonly string[], { signal, onStep }: RunOptions = {}): Promise<void> {
    await this.watched({ onEvent: asSteps(onStep), signal, shows: true }, async (run) => {
      await this.stack.refresh({ ...run, runProgram: false, ...(urns && { target: [...urns] }) });
    });
  }

  async destroy({ signal, onStep }: RunOptions = {}): Promise<void> {
    await this.watched({ onEvent: asSteps(onStep), signal, shows: true }, async (run) => {
      await this.stack.destroy({ ...run, runProgram: false, excludeProtected: true });
    });
  }

  urnOf(model: Model, index: number): string {
    return rowOfPart(model, index, this.options);
  }

  /** A run of the engine that tells its events; its failure has the words of the things that failed. */
  private async watched(
    {
      onEvent,
      signal,
      shows = false,
    }: { onEvent: (event: EngineEvent) => void; signal: AbortSignal | undefined; shows?: boolean },
    run: (options: {
      onEvent: (event: EngineEvent) => void;
      onOutput?: (text: string) => void;
      signal?: AbortSignal;
      message: string;
      color: "never";
      suppressProgress: true;
    }) => Promise<void>,
  ): Promise<void> {
    const failures = new FailureRecord();
    const { onOutput } = this.options;
    try {
      await run({
        onEvent: (event) => {
          failures.note(event);
          onEvent(event);
        },
        ...(shows && onOutput && { onOutput }),
        ...(signal && { signal }),
        message: `kubicorn ${this.run}`,
        color: "never",
        suppressProgress: true,
      });
    } catch (error) {
      throw failures.text === "" || signal?.aborted ? error : new Error(failures.text, { cause: error });
    }
  }

  /** What the Automation API is given to run; nothing where it is the project's own program. */
  private async toRun(program: Program): Promise<{ program?: PulumiFn }> {
    if (program.kind === "model") {
      return this.options.runsProject ? {} : { program: modelProgram(program.model, this.options.root) };
    }
    const { rows } = program;
    const { resources } = await readable(
      { resources: rows, pendingOperations: [], rest: (await this.read()).rest },
      { cli: this.cli, ...this.options },
    );
    const urnOf = (model: Model, index: number) => this.urnOf(model, index);
    return { program: recordedProgram({ ...program, rows: resources, urnOf }) };
  }

  /**
   * The state file, where the backend is a folder: reading it is a hundred times faster than asking for it. It is never
   * written in place, so that one that is cut short was left so by a run that is dead.
   */
  private async readFolder(): Promise<Snapshot | undefined> {
    const file = stateFileOf(this.options);
    if (file === undefined) {
      return undefined;
    }
    const mended = mendState(this.options);
    if (mended !== undefined) {
      this.tell(mended);
    }
    const bytes = await readFile(file);
    const content: unknown = JSON.parse(
      (file.endsWith(".gz") ? await promisify(gunzip)(bytes) : bytes).toString("utf8"),
    );
    const checkpoint = isPlainObject(content) && isPlainObject(content.checkpoint) ? content.checkpoint : {};
    return parseSnapshot(JSON.stringify({ version: 3, deployment: checkpoint.latest ?? {} }));
  }

  private named(): string[] {
    return ["--stack", this.options.fullName];
  }
}

function asSteps(onStep: RunOptions["onStep"]): (event: EngineEvent) => void {
  return (event) => {
    for (const step of asList(stepOf(event))) {
      onStep?.(step);
    }
  };
}

function asList<T>(one: T | undefined): T[] {
  return one === undefined ? [] : [one];
}
