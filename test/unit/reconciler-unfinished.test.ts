/** What a killed run had begun to make, as rows of the state: one live row a URN at most, whatever was killed before. */
import { describe, expect, test } from "vitest";
import { cutOffMark, type PendingOperation, type StateRow, unfinishedId } from "../../cloud/stack-engine";
import { withUnfinished } from "../../reconciler/unfinished";

const type = "pulumi-nodejs:dynamic/memory:Thing";
const row = (name: string, more: Partial<StateRow> = {}): StateRow => ({
  urn: `urn:pulumi:dev::project::${type}::${name}`,
  type,
  custom: true,
  id: `${name}-1`,
  inputs: { __kind: "memory:Thing", name },
  ...more,
});
const creating = ({ id: _none, ...resource }: StateRow): PendingOperation => ({ type: "creating", resource });
const take = (resources: readonly StateRow[], pendingOperations: readonly PendingOperation[]) =>
  withUnfinished({ resources, pendingOperations, rest: {} });
/** Each row in a few words: its name, its id, and whether it waits for its removal. */
const told = (rows: readonly StateRow[]) =>
  rows.map(({ urn, id, delete: goes }) => `${urn.split("::").pop()} ${id}${goes ? " goes" : ""}`);
const secret = (ciphertext: string) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext,
});

describe("what was being made", () => {
  test.each<[string, StateRow[], StateRow[], string[]]>([
    ["of which nothing is recorded stands last", [row("a")], [row("b")], ["a a-1", "b unfinished"]],
    [
      "beside the thing that it was to replace waits for its removal",
      [row("a"), row("b")],
      [row("a")],
      ["a a-1", "b b-1", "a unfinished goes"],
    ],
    [
      "where a thing that is gone has its row takes that row's place",
      [row("a", { pendingReplacement: true }), row("b", { dependencies: [row("a").urn] })],
      [row("a")],
      ["a unfinished", "b b-1"],
    ],
    [
      "where only things that wait for their removal are recorded stands before those",
      [row("a", { delete: true }), row("b")],
      [row("a")],
      ["a unfinished", "a a-1 goes", "b b-1"],
    ],
    ["by two killed runs alike stands there once", [], [row("a"), row("a")], ["a unfinished"]],
    [
      "by two killed runs alike, with a secret, stands there once",
      [],
      [
        row("a", { inputs: { __kind: "k", key: secret("v1:x") } }),
        row("a", { inputs: { __kind: "k", key: secret("v1:y") } }),
      ],
      ["a unfinished"],
    ],
    [
      "by two killed runs under two names stands there as one that goes too",
      [],
      [row("a"), row("a", { inputs: { __kind: "memory:Thing", name: "other" } })],
      ["a unfinished", "a unfinished goes"],
    ],
    [
      "and was taken up by a run that was killed as well stands there once",
      [row("a", { id: unfinishedId })],
      [row("a")],
      ["a unfinished"],
    ],
  ])("%s", (_what, resources, begun, expected) => {
    const { taken } = take(resources, begun.map(creating));
    expect(told(taken.resources)).toEqual(expected);
    expect(taken.pendingOperations).toEqual([]);
  });

  test("that is of another library stays pending, since nobody can look for it", () => {
    const foreign = row("a", { type: "aws:ec2/instance:Instance", inputs: {} });
    const { taken, interrupted } = take([], [creating(foreign)]);
    expect([taken.resources, taken.pendingOperations.length, interrupted]).toEqual([[], 1, 0]);
  });
});

test.each(["updating", "deleting"] as const)("what was cut off %s is marked as not whole, and no other row", (verb) => {
  const { taken } = take(
    [row("a"), row("a", { id: "a-0", delete: true }), row("b")],
    [{ type: verb, resource: row("a") }],
  );
  expect(taken.resources.map(({ initErrors }) => initErrors)).toEqual([[cutOffMark], undefined, undefined]);
});

test("reasons that a thing had before it was cut off stay beside the mark, which stands there once", () => {
  const broken = row("a", { initErrors: ["does not work"] });
  const { taken } = take([broken], [{ type: "updating", resource: broken }]);
  const again = take(taken.resources, [{ type: "deleting", resource: broken }]).taken;
  for (const { resources } of [taken, again]) {
    expect(resources).toEqual([{ ...broken, initErrors: ["does not work", cutOffMark] }]);
  }
});
