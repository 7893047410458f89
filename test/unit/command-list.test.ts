/** What the list of stacks says of a record, wherever that is kept. */
import { expect, test } from "vitest";
import { type ListedStack, recordedElsewhere, recordIn, stackTable } from "../../bin/list";

const row = (type: string, more: object = {}) => ({ urn: `urn:pulumi:a::p::${type}::x`, type, custom: true, ...more });
const state = (resources: object[], pending_operations: object[] = []) =>
  JSON.stringify({ version: 3, checkpoint: { stack: "a", latest: { resources, pending_operations } } });

test("counts what exists anywhere but in the record, and the nodes", () => {
  const text = state([
    row("pulumi:pulumi:Stack", { custom: false }),
    row("pulumi:providers:pulumi-nodejs"),
    row("pulumi-nodejs:dynamic/guest:Node"),
    row("pulumi-nodejs:dynamic/guest:Node", { delete: true }),
    row("pulumi-nodejs:dynamic/local:Machine"),
  ]);
  expect(recordIn(text)).toEqual({ state: "made", resources: 2, nodes: 1, pendingOperations: 0 });
});

test("tells a run that was killed", () => {
  const text = state([], [{ type: "creating", resource: row("a:b:C") }]);
  expect(recordIn(text)).toEqual({ state: "interrupted", resources: 0, nodes: 0, pendingOperations: 1 });
});

test.each([state([]), '{"version":3,"checkpoint":{"stack":"a","latest":null}}', '{"checkpoint":{}}'])(
  "takes %s for empty",
  (text) => expect(recordIn(text)).toMatchObject({ state: "empty", resources: 0 }),
);

test.each(["", "{", state([row("a:b:C")]).slice(0, -5), '{"version":3}', '"text"'])(
  "takes %s for cut short",
  (text) => {
    expect(recordIn(text)).toEqual({ state: "cut short", resources: null, nodes: null, pendingOperations: null });
  },
);

test("reads Pulumi's own list", () => {
  const text = JSON.stringify([
    { name: "us/one", current: false, lastUpdate: "2026-01-02T03:04:05.000Z", resourceCount: 7, url: "https://x" },
    { name: "two", current: true, updateInProgress: true },
    { name: "three", current: false },
  ]);
  const told = recordedElsewhere(text);
  expect([...told.keys()]).toEqual(["us/one", "two", "three"]);
  expect(told.get("us/one")).toMatchObject({ state: "made", resources: 7, changed: "2026-01-02T03:04:05.000Z" });
  expect(told.get("two")).toMatchObject({ state: "in use", inUse: "a run has not ended" });
  expect(told.get("three")).toMatchObject({ state: "empty", resources: 0, nodes: null, changed: null });
});

test("says each state in words, and why settings cannot be read", () => {
  const stack: ListedStack = {
    ...{ name: "a", cloud: "local", kubernetesVersion: "1.37.2", problem: null },
    ...{ state: "made", resources: 1, nodes: 3, pendingOperations: 0, inUse: null, changed: null },
  };
  const text = stackTable([
    stack,
    { ...stack, name: "b", state: "interrupted", resources: 4, pendingOperations: 2 },
    { ...stack, name: "c", state: "in use", inUse: "ann has been running Pulumi on it" },
    { ...stack, name: "d", state: "none", cloud: null, kubernetesVersion: null, nodes: null, problem: "no YAML" },
  ]);
  expect(text.split("\n").map((line) => line.replace(/ {2,}/g, "|"))).toEqual([
    "STACK|CLOUD|KUBERNETES|NODES|CHANGED|STATE",
    "a|local|1.37.2|3|-|1 resource",
    "b|local|1.37.2|3|-|interrupted: 4 resources, 2 pending; the next run takes it up",
    "c|local|1.37.2|3|-|in use: ann has been running Pulumi on it",
    "d|?|?|-|-|none; no YAML",
    "",
  ]);
});
