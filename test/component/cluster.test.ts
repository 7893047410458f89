/**
 * The Cluster component on Pulumi's mocks: which rows there are, under what, and what each waits for.
 */
import * as pulumi from "@pulumi/pulumi";
import { afterEach, describe, expect, test } from "vitest";
import type { ClusterArguments } from "../../cloud/spec";
import { type Registration, recordRegistrations, stopRecording } from "./recorder";

afterEach(() => stopRecording());

async function rowsOf(spec: Partial<ClusterArguments>, preview = false): Promise<Registration[]> {
  const registrations = await recordRegistrations(preview);
  const { Cluster } = await import("../../components/cluster");
  const cluster = new Cluster("cluster", "name" in spec ? spec : { name: "dev", ...spec });
  await pulumi.runtime.disconnect();
  expect(pulumi.Output.isInstance(cluster.kubeconfig)).toBe(true);
  return registrations;
}

const outline = (rows: readonly Registration[]) =>
  rows.map(({ type, name, parent }) => `${parent} > ${name} (${type.replace(/^.*[:/](?=\w+:\w+$)/, "")})`).sort();

const waits = (rows: readonly Registration[], name: string) => rows.find((row) => row.name === name)?.waitsFor ?? [];

test("one control plane and two workers are these rows", async () => {
  expect(outline(await rowsOf({ pools: [{ name: "workers", count: 2 }] }))).toMatchSnapshot();
});

test("a worker more is three rows more, and changes nothing about the others", async () => {
  const before = await rowsOf({ pools: [{ name: "workers", count: 2 }] });
  stopRecording();
  const after = await rowsOf({ pools: [{ name: "workers", count: 3 }] });
  const known = new Map(before.map((row) => [row.name, row.inputs]));
  expect(
    after
      .filter(({ name }) => !known.has(name))
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["cluster-workers-3-host-key", "cluster-workers-3-machine", "cluster-workers-3-node"]);
  for (const { name, inputs } of after.filter((row) => known.has(row.name))) {
    expect(inputs).toEqual(known.get(name));
  }
});

test("the order in which pools are written makes no difference", async () => {
  const pools = [
    { name: "big", count: 1 },
    { name: "small", count: 1 },
  ];
  const before = await rowsOf({ pools });
  stopRecording();
  const after = await rowsOf({ pools: [...pools].reverse() });
  const sorted = (rows: readonly Registration[]) => [...rows].sort((left, right) => (left.name < right.name ? -1 : 1));
  expect(sorted(after)).toEqual(sorted(before));
});

describe("edges", () => {
  test("worker machines start beside the control plane, and join once there is something to join", async () => {
    const rows = await rowsOf({ pools: [{ name: "workers", count: 2 }] });
    expect(waits(rows, "cluster-workers-1-machine")).toEqual([
      "cluster-image",
      "cluster-network",
      "cluster-ssh-key",
      "cluster-workers-1-host-key",
    ]);
    expect(waits(rows, "cluster-workers-1-node")).toEqual([
      "cluster-control-plane-1-machine",
      "cluster-join-information",
      "cluster-kubeconfig",
      "cluster-ssh-key",
      "cluster-workers-1-host-key",
      "cluster-workers-1-machine",
    ]);
  });

  test("host keys wait for nothing but the cluster's key, and those beyond a pool's surge one for the other", async () => {
    const rows = await rowsOf({ pools: [{ name: "workers", count: 4 }] });
    expect([1, 2, 3, 4].map((slot) => waits(rows, `cluster-workers-${slot}-host-key`))).toEqual([
      ["cluster-ssh-key"],
      ["cluster-ssh-key"],
      ["cluster-ssh-key", "cluster-workers-1-host-key", "cluster-workers-2-host-key"],
      ["cluster-ssh-key", "cluster-workers-3-host-key"],
    ]);
  });

  test("readiness waits for every node", async () => {
    const rows = await rowsOf({ pools: [{ name: "workers", count: 2 }] });
    expect(waits(rows, "cluster-readiness")).toEqual([
      "cluster-control-plane-1-node",
      "cluster-kubeconfig",
      "cluster-workers-1-node",
      "cluster-workers-2-node",
    ]);
  });
});

test("no workers at all is a cluster", async () => {
  const rows = await rowsOf({ controlPlane: { schedulable: true }, pools: [{ name: "workers", count: 0 }] });
  expect(rows.map(({ name }) => name)).toContain("cluster-readiness");
  expect(rows.filter(({ name }) => name.includes("workers"))).toEqual([]);
});

test("unknown values of a preview throw nowhere", async () => {
  expect(outline(await rowsOf({ pools: [{ name: "workers" }] }, true))).toContain(
    "cluster-workers > cluster-workers-1-node (guest:Node)",
  );
});

test("a node is told what it joins and as what", async () => {
  const rows = await rowsOf({ pools: [{ name: "workers", count: 1 }] });
  const node = rows.find(({ name }) => name === "cluster-workers-1-node");
  expect(node?.inputs).toMatchObject({ machine: "dev-workers-1", joins: true, pool: "workers" });
});

test("a spec that is not allowed is told whole, and nothing is asked for", async () => {
  const registrations = await recordRegistrations();
  const { Cluster } = await import("../../components/cluster");
  expect(() => new Cluster("cluster", { name: "Dev", pools: [{ name: "a", count: -1 }] })).toThrow(pulumi.RunError);
  expect(registrations).toEqual([]);
});

describe("arguments from a program", () => {
  test("a name that is left undefined is the component's", async () => {
    const spec = { name: undefined, pools: undefined } as unknown as Partial<ClusterArguments>;
    const rows = await rowsOf(spec);
    expect(rows.some(({ inputs }) => inputs.machine === "cluster-control-plane-1")).toBe(true);
  });

  test("an Output where a plain value is needed is told with its place", async () => {
    const pools = [{ name: "workers", count: pulumi.output(2) }] as unknown as ClusterArguments["pools"];
    await expect(rowsOf({ pools })).rejects.toThrow(
      /pools\[0\]\.count: "an Output" is not allowed; a plain value is needed/,
    );
  });
});
