/** The AtomicReconciler over the real engine, with a third party's Model of plain in-memory Resources. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { secret } from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AtomicReconciler } from "../../cloud/atomic-reconciler";
import { type Model, type PartInputs, PartList, Reference } from "../../cloud/model";
import type { StackEngine } from "../../cloud/stack-engine";
import { pulumiEngine } from "../../reconciler/engine";
import { Project } from "../engine/project";

interface ThingSpec {
  readonly name: string;
  readonly inputs?: PartInputs;
  /** Names of things before it from which it takes the serial. */
  readonly from?: readonly string[];
}
type Spec = readonly ThingSpec[];

const library = resolve(__dirname, "../doubles/memory/resources.cjs");

function modelOf(spec: Spec): Model {
  const list = new PartList();
  const indices = new Map<string, number>();
  for (const { name, inputs = {}, from = [] } of spec) {
    const taken = from.map((giver) => new Reference(indices.get(giver) as number, "serial"));
    const value = taken.length === 0 ? {} : { value: taken };
    indices.set(name, list.add({ name, kind: "memory:Thing", library, inputs: { name, ...value, ...inputs } }));
  }
  return list.toModel({});
}

let project: Project;
let engine: StackEngine;
const told: string[] = [];

beforeEach(async () => {
  project = await new Project("memory").init();
  engine = await newEngine();
  told.length = 0;
});

afterEach(() => project.remove());

function newEngine(): Promise<StackEngine> {
  return pulumiEngine({
    project: "project",
    stack: "dev",
    fullName: "dev",
    backendFolder: join(project.folder, "backend"),
    workDir: project.folder,
    environment: project.environment,
    tell: (sentence) => told.push(sentence),
  });
}

async function reconcile(known: Spec, wanted: Spec, policy: "rollback" | "keep" = "rollback") {
  const reconciler = new AtomicReconciler(known, modelOf, engine, { policy, tell: (sentence) => told.push(sentence) });
  return await reconciler.reconcile(await reconciler.actual(known), await reconciler.expected(wanted));
}

const ids = () =>
  Object.fromEntries(
    project.state().flatMap(({ urn, id }) => (id && !urn.includes("providers") ? [[urn.split("::").pop(), id]] : [])),
  );
const world = (name: string) => JSON.parse(readFileSync(join(project.world, `${name}.json`), "utf8"));
const isThere = (name: string) => existsSync(join(project.world, `${name}.json`));

describe("reconcile", () => {
  const old: Spec = [
    { name: "a", inputs: { value: 1 } },
    { name: "b", from: ["a"], inputs: { password: secret("pw") as never } },
  ];

  test("makes what is expected, and twice is once", async () => {
    const made = await reconcile(old, old);
    expect(made.resources.map(({ name, exists }) => [name, exists])).toEqual([
      ["a", true],
      ["b", true],
    ]);
    const before = project.stateText();
    await reconcile(old, old);
    expect(project.stateText()).toBe(before);
  });

  test("that fails removes what it made, puts back what it changed, and touches nothing else", async () => {
    await reconcile(old, old);
    const before = ids();
    const bad: Spec = [
      { name: "a", inputs: { value: 2 } },
      { name: "b", from: ["a"], inputs: { password: secret("pw") as never } },
      { name: "c", from: ["a"] },
      { name: "d", from: ["c"], inputs: { fail: "after" } },
    ];
    const error = await reconcile(old, bad).catch((caught) => caught);
    expect(error).toMatchObject({ name: "ReconcileError", isRolledBack: true });
    expect(error.message).toMatch(/d was made and does not work/);
    expect(ids()).toEqual(before);
    expect(world("a").value).toBe(1);
    expect([isThere("c"), isThere("d")]).toEqual([false, false]);
    expect(project.stateText()).not.toContain('"pw"');
  });
});
