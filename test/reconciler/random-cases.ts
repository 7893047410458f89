/**
 * Random models, changes and blows through the AtomicReconciler on the real engine: all or nothing, whatever happens.
 * KUBICORN_SEED repeats a run, KUBICORN_ENGINE_CASES makes it longer. Each part of the cases has a process of its own, since
 * a killed engine also ends whatever other inline program its process runs.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AtomicReconciler } from "../../cloud/atomic-reconciler";
import { type Model, PartList, Reference } from "../../cloud/model";
import { ReconcileError } from "../../cloud/reconciler";
import type { StackEngine } from "../../cloud/stack-engine";
import { pulumiEngine } from "../../reconciler/engine";
import { Project } from "../engine/project";

const cases = Number(process.env.KUBICORN_ENGINE_CASES ?? 60);
const seed = Number(process.env.KUBICORN_SEED ?? Math.floor(Math.random() * 2 ** 31));
const library = resolve(__dirname, "../doubles/memory/resources.cjs");

/** One thing of a cluster. */
interface Thing {
  readonly name: string;
  /** Changed in place. */
  readonly value: number;
  /** A change of it removes the thing before its replacement is made. */
  readonly size: number;
  /** Its name in the world; a change of it makes the replacement beside the thing. */
  readonly alias: string;
  /** Names of earlier things whose serials it is given. */
  readonly from: readonly string[];
}
type Spec = readonly Thing[];

interface Blow {
  /** Of the things' own steps, or of the engine's events where the run is interrupted. */
  readonly step: number;
  readonly what: "fails" | "killed" | "interrupted";
  readonly when: "before" | "after";
  /** Whether the process of the Reconciler ends with a killed engine. */
  readonly dies: boolean;
}

interface Case {
  readonly wanted: Spec;
  readonly blow: Blow;
  /** A blow during the rollback. */
  readonly second: Blow | undefined;
  readonly policy: "rollback" | "keep";
  readonly next: "again" | "rollback" | "other";
  readonly other: Spec;
}

const names = ["a", "b", "c", "d", "e", "f"];

const thing = (name: string, index: number): fc.Arbitrary<Thing> =>
  fc.record({
    name: fc.constant(name),
    value: fc.integer({ min: 0, max: 2 }),
    size: fc.integer({ min: 0, max: 1 }),
    alias: fc.constantFrom(name, name, `${name}2`),
    from: fc.subarray(names.slice(0, index)),
  });

const spec: fc.Arbitrary<Spec> = fc
  .tuple(fc.subarray(names, { minLength: 1 }), fc.tuple(...names.map(thing)))
  .map(([chosen, things]) =>
    things
      .filter(({ name }) => chosen.includes(name))
      .map((one) => ({ ...one, from: one.from.filter((giver) => chosen.includes(giver)) })),
  );

const blow: fc.Arbitrary<Blow> = fc.record({
  step: fc.integer({ min: 1, max: 7 }),
  what: fc.constantFrom("fails", "killed", "interrupted"),
  when: fc.constantFrom("before", "after"),
  dies: fc.boolean(),
});

const oneCase: fc.Arbitrary<Case> = fc.record({
  wanted: spec,
  blow,
  second: fc.option(blow, { nil: undefined, freq: 2 }),
  policy: fc.constantFrom("rollback", "rollback", "rollback", "keep"),
  next: fc.constantFrom("again", "rollback", "other"),
  other: spec,
});

function modelOf(things: Spec): Model {
  const list = new PartList();
  const indices = new Map<string, number>();
  for (const { name, from, value, ...inputs } of things) {
    const serials = from.map((giver) => new Reference(indices.get(giver) as number, "serial"));
    const part = { name, kind: "memory:Thing", library, inputs: { name, ...inputs, value: [value, ...serials] } };
    indices.set(name, list.add(part));
  }
  return list.toModel({});
}

/** The process of the Reconciler has ended with the engine: nothing that it would do happens any more. */
class ProcessEnded extends Error {}

/** The real engine, with blows laid for its runs. */
class StruckEngine {
  private dead = false;

  constructor(
    private readonly project: Project,
    private readonly engine: StackEngine,
    /** Each strikes one run; what is left is for the next. */
    private readonly blows: Blow[],
  ) {}

  get struck(): StackEngine {
    const up: StackEngine["up"] = (program, options) => this.up(program, options);
    const deadly = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (whole, key) => {
          const value: unknown = key === "up" ? up : Reflect.get(whole, key);
          if (typeof value !== "function") {
            return typeof value === "object" && value !== null ? deadly(value) : value;
          }
          return (...args: unknown[]) => {
            if (this.dead) {
              throw new ProcessEnded("the process has ended");
            }
            return Reflect.apply(value, whole, args);
          };
        },
      });
    return deadly(this.engine);
  }

  private async up(...[program, options = {}]: Parameters<StackEngine["up"]>): Promise<void> {
    const blow = this.blows.shift();
    const interruption = new AbortController();
    let events = 0;
    lay(this.project, blow);
    const onStep: typeof options.onStep = (step) => {
      events += 1;
      if (blow?.what === "interrupted" && events >= blow.step) {
        interruption.abort(new Error("interrupted"));
      }
      options.onStep?.(step);
    };
    try {
      await this.engine.up(program, { ...options, signal: interruption.signal, onStep });
    } catch (error) {
      this.dead = blow?.what === "killed" && blow.dies && !existsSync(blowFile(this.project));
      throw this.dead ? new ProcessEnded("the process has ended") : error;
    } finally {
      lay(this.project, undefined);
    }
  }
}

const blowFile = ({ world }: Project) => join(world, "blow", "next.json");

/** Lays the blow for the next run, whose steps are counted anew. */
function lay(project: Project, blow: Blow | undefined): void {
  rmSync(join(project.world, "blow"), { recursive: true, force: true });
  mkdirSync(join(project.world, "blow"));
  if (blow !== undefined) {
    writeFileSync(blowFile(project), JSON.stringify(blow));
  }
}

/** One stack on which case after case is played; each begins where the one before has ended. */
class Lane {
  readonly said: string[] = [];
  /** How many cases the blow has made fail. */
  struck = 0;
  private known: Spec = [];

  private constructor(
    readonly project: Project,
    private readonly engine: StackEngine,
  ) {}

  static async open(): Promise<Lane> {
    const project = await new Project("memory").init();
    const engine = await pulumiEngine({
      project: "project",
      stack: "dev",
      fullName: "dev",
      backendFolder: join(project.folder, "backend"),
      workDir: project.folder,
      environment: project.environment,
    });
    return new Lane(project, engine);
  }

  async play({ wanted, blow, second, policy, next, other }: Case): Promise<void> {
    const old = this.known;
    const before = this.world();
    const engine = new StruckEngine(this.project, this.engine, [blow, ...(second ? [second] : [])]).struck;
    this.said.push(`old ${JSON.stringify(old)}`, `blow ${JSON.stringify([blow, second])}`);
    const error = await this.reconcile(old, wanted, { policy, engine }).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    this.said.push(`-> ${error instanceof Error ? error.message : "done"}`);
    this.struck += error === undefined ? 0 : 1;
    if (error === undefined) {
      this.expectWorld(wanted, old, before);
    } else if (error instanceof ReconcileError && !error.isResumable && policy === "rollback") {
      this.expectWorld(old, error.isRolledBack ? old : unharmed(old, error), before);
    }
    if (error !== undefined && next === "rollback") {
      await this.goBack(old, error, { policy, before });
    }
    const target = next === "other" ? other : wanted;
    await this.reconcile(old, target);
    this.expectContent(target);
    const log = this.project.log().length;
    await this.reconcile(target, target);
    expect(this.project.log().slice(log), "the same once more does nothing").toEqual([]);
    this.known = target;
  }

  private async goBack(old: Spec, error: unknown, { policy, before }: { policy: string; before: World }) {
    this.said.push("rollback");
    const { notUndone } = await new AtomicReconciler(old, modelOf, this.engine).rollback();
    if (policy === "rollback" && error instanceof ProcessEnded) {
      this.expectWorld(
        old,
        old.filter(({ name }) => !notUndone.some((one) => one.name === `cluster-${name}`)),
        before,
      );
    }
  }

  private async reconcile(
    known: Spec,
    wanted: Spec,
    { policy = "rollback", engine = this.engine }: { policy?: Case["policy"]; engine?: StackEngine } = {},
  ): Promise<void> {
    this.said.push(`reconcile ${JSON.stringify(wanted)}`);
    const reconciler = new AtomicReconciler(known, modelOf, engine, {
      policy,
      tell: (sentence) => this.said.push(`   ${sentence}`),
    });
    await reconciler.reconcile(await reconciler.actual(known), await reconciler.expected(wanted));
  }

  /** The world holds just these things, and those that nothing has reason to replace are the very ones of before. */
  private expectWorld(wanted: Spec, old: Spec, before: World): void {
    this.expectContent(wanted);
    const now = this.world();
    for (const one of unreplaced(wanted, old)) {
      expect(now[one.alias]?.serial, `${one.name} is the thing that it was`).toBe(before[one.alias]?.serial);
    }
  }

  private expectContent(wanted: Spec): void {
    const world = this.world();
    const serialOf = (name: string) => world[wanted.find((one) => one.name === name)?.alias ?? ""]?.serial;
    const contents = wanted.map(({ alias, value, from }) => [alias, [value, ...from.map(serialOf)]]);
    expect(Object.fromEntries(Object.entries(world).map(([name, one]) => [name, one.value]))).toEqual(
      Object.fromEntries(contents),
    );
    const recorded = this.project.state().filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/"));
    expect(recorded.map(({ id }) => id).sort(), "each has a row with its identity").toEqual(
      Object.values(world)
        .map(({ serial }) => serial)
        .sort(),
    );
  }

  /** What is there and what is recorded, for who reads of a case that failed. */
  standing(): string[] {
    const rows = this.project.state().filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/"));
    const told = rows.map(({ urn, id, outputs, initErrors }) => [
      urn.split("::").pop(),
      id,
      outputs?.value,
      initErrors,
    ]);
    return [
      `world ${JSON.stringify(this.world())}`,
      `recorded ${JSON.stringify(told)}`,
      ...this.project.log().slice(-30),
    ];
  }

  private world(): World {
    const files = readdirSync(this.project.world).filter((file) => file.endsWith(".json"));
    return Object.fromEntries(
      files.map((file) => [
        file.replace(/\.json$/, ""),
        JSON.parse(readFileSync(join(this.project.world, file), "utf8")),
      ]),
    );
  }
}

type World = Readonly<Record<string, { readonly serial: string; readonly value: readonly unknown[] }>>;

/** The things of the one that stand in the other as well and are not replaced on the way. */
function unreplaced(wanted: Spec, old: Spec): Spec {
  const isSame = ({ name, size, alias }: Thing) =>
    old.some((one) => one.name === name && one.size === size && one.alias === alias);
  return wanted.filter(isSame);
}

/** Those of which the error does not say that they had to be made anew. */
function unharmed(things: Spec, { notUndone }: ReconcileError): Spec {
  return things.filter(({ name }) => !notUndone.some((one) => one.name === `cluster-${name}`));
}

/** Plays every case whose number leaves that remainder. */
export function playCases({ part, of }: { readonly part: number; readonly of: number }): void {
  const all = fc.sample(oneCase, { seed, numRuns: cases });

  test(`each case ends as it was or as it should be, KUBICORN_SEED=${seed}`, { timeout: 1_500_000 }, async () => {
    const lane = await Lane.open();
    try {
      for (const [index, one] of all.entries()) {
        if (index % of === part) {
          lane.said.length = 0;
          await lane.play(one).catch((error: unknown) => {
            const what = error instanceof Error ? error.message : String(error);
            const told = [...lane.said, ...lane.standing()].join("\n");
            throw new Error(`case ${index} of seed ${seed}: ${what}\n${told}`, { cause: error });
          });
        }
      }
      expect(lane.struck, "blows that struck").toBeGreaterThan(cases / of / 5);
    } finally {
      lane.project.remove();
    }
  });
}
