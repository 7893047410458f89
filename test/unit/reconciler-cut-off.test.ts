/** What a killed run was changing or removing is looked at, before anything is done, in a rollback and in a run that goes on. */
import { expect, test } from "vitest";
import { AtomicReconciler } from "../../cloud/atomic-reconciler";
import { PartList } from "../../cloud/model";
import { rollBack } from "../../cloud/rollback-run";
import { cutOffMark, type Journal, type Snapshot, type StackEngine, type StateRow } from "../../cloud/stack-engine";

const row = (name: string, more: Partial<StateRow> = {}): StateRow => ({
  urn: `urn:pulumi:dev::project::memory:Thing::${name}`,
  type: "memory:Thing",
  custom: true,
  id: `${name}-1`,
  inputs: {},
  ...more,
});
const stateOf = (...resources: StateRow[]): Snapshot => ({ resources, pendingOperations: [], rest: {} });

/** An engine whose state was mended after a kill; its refresh finds everything as recorded, and so takes the marks away. */
class MendedEngine implements StackEngine {
  readonly said: string[] = [];
  constructor(
    private state: Snapshot,
    private kept: Journal | undefined,
  ) {}
  hold = async () => async () => undefined;
  mend = async () => undefined;
  read = async () => this.state;
  write = async (state: Snapshot) => {
    this.state = state;
  };
  preview = async () => [];
  up = async () => {
    this.said.push("up");
  };
  audit = async () => [];
  refresh = async (urns?: readonly string[]) => {
    const isLookedAt = ({ urn }: StateRow) => urns === undefined || urns.includes(urn);
    this.said.push(`refresh ${this.state.resources.filter(isLookedAt).map(({ id }) => id)}`);
    const resources = this.state.resources.map((one) => (isLookedAt(one) ? { ...one, initErrors: [] } : one));
    this.state = { ...this.state, resources };
  };
  destroy = async () => undefined;
  urnOf = () => row("a").urn;
  readonly journal = {
    read: async () => this.kept,
    write: async (journal: Journal) => {
      this.kept = journal;
      this.said.push(`journal ${journal.attempted.map((urn) => urn.split("::").pop())}`);
    },
    clear: async () => {
      this.kept = undefined;
    },
  };
}

const before = stateOf(row("a"), row("b"), row("c", { initErrors: ["does not work"] }));
const after = stateOf(
  row("a", { initErrors: [cutOffMark] }),
  row("b"),
  row("c", { initErrors: ["does not work", cutOffMark] }),
);
const journal: Journal = { phase: "applying", before, attempted: [] };

test("a rollback writes down and looks at what the killed run had not told the journal of", async () => {
  const engine = new MendedEngine(after, journal);
  expect((await rollBack(engine, journal, { tell: () => undefined, model: undefined })).failure).toBeUndefined();
  expect(engine.said).toEqual(["journal a,c", "refresh a-1,c-1", "up"]);
});

test.each([
  ["where the audit found nothing", true, ["journal a,c", "refresh a-1,c-1"]],
  ["where the audit found differences", false, ["journal a,c", "refresh a-1,b-1,c-1", "refresh a-1,c-1"]],
])("a run that goes on keeps the marks, %s", async (_when, exists, said) => {
  const engine = new MendedEngine(after, journal);
  const parts = new PartList();
  parts.add({ name: "a", kind: "memory:Thing", inputs: {} });
  const model = parts.toModel({});
  const reconciler = new AtomicReconciler({}, () => model, engine);
  const actual = await reconciler.actual({});
  const seen = { ...actual, resources: actual.resources.map((one) => ({ ...one, exists })) };
  await reconciler.reconcile(seen, await reconciler.expected({}));
  expect(engine.said).toEqual(said);
  const marks = (await engine.read()).resources.map(({ initErrors = [] }) => initErrors.includes(cutOffMark));
  expect(marks).toEqual([true, false, true]);
});
