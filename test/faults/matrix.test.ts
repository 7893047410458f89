/**
 * Every interruption at every point of a cluster's life, on a real cluster: the run says what happened and leaves nothing at
 * work, the next one converges, nothing older is touched, nothing is doubled, nothing is leaked.
 * With KUBICORN_FAULTS=one-of-each each interruption and each point has its turn once.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubernetesVersions } from "../../cloud/spec";
import { kubectlProgram } from "../../setup/kubernetes-programs";
import { ClusterProject } from "../e2e/cluster-project";
import { Faulty, type Interruption, interruptions } from "./interrupted-run";
import { type Point, points } from "./points";
import { record, writeTable } from "./table";

const oneOfEach = process.env.KUBICORN_FAULTS === "one-of-each";
const pause = (seconds: number) => new Promise((next) => setTimeout(next, seconds * 1000));

/** Rows of the engine that a cluster of that many workers has. */
const rows = (workers: number) => 12 + (workers > 0 ? 1 : 0) + 3 * workers;

/** The interruptions of one life of a cluster: always the same one, or each in turn. */
const lives: readonly { readonly name: string; at(index: number): Interruption }[] = oneOfEach
  ? [{ name: "each interruption in turn", at: (index) => interruptions[index % interruptions.length] as Interruption }]
  : interruptions.map((one) => ({ name: one, at: () => one }));

describe.each(lives)("$name", ({ at }) => {
  let faulty: Faulty;
  /** How many workers the cluster has now; `undefined` where there is no cluster, "unknown" after a cell that failed. */
  let workers: number | undefined | "unknown";

  beforeAll(async () => {
    const project = new ClusterProject();
    project.kubectlProgram = (await kubectlProgram(kubernetesVersions[0])) ?? "kubectl";
    faulty = new Faulty(project, `faults-${process.pid}`);
  });

  afterAll(async () => {
    await faulty.project.start("down", "--yes", "--skip-preview");
    faulty.project.remove();
  });

  test.each(points.map((point, index) => ({ point, how: at(index) })))(
    "$how at: $point.name",
    async ({ point, how }) => {
      await begin(point);
      const before = await faulty.things();
      const nodesBefore = point.before === undefined ? {} : await nodes();
      workers = "unknown";
      const ended = await faulty.interrupt(point.verb, (output) => point.isThere(output, faulty), how);
      expectToldAndQuick(ended, how);
      await pause(2);
      expect(faulty.processes()).toEqual([]);
      const left = await faulty.things();
      await pause(how === "kill -9" ? 2 : 0);
      expect(await faulty.things()).toEqual(left);

      const rerun = await faulty.project.start(point.verb, "--yes", "--skip-preview");
      expect(rerun.exitCode, rerun.all).toBe(0);
      await expectConverged(point, before);
      expect(point.verb === "down" ? {} : await nodes()).toMatchObject(survivorsOf(nodesBefore, point));
      workers = point.verb === "down" ? undefined : point.workers;
      expect(faulty.temporaryFiles()).toEqual([]);
      record({ point: point.name, how, ended, told: toldBy(rerun.all) });
    },
    300_000,
  );

  /** Brings the cluster to what the point begins with. */
  async function begin(point: Point): Promise<void> {
    if (workers !== point.before) {
      configure(point.before ?? 0);
      await faulty.project.run(point.before === undefined ? "down" : "up", "--yes", "--skip-preview");
    }
    if (point.before !== undefined) {
      await faulty.project.fetchKubeconfig();
    }
    if (point.name === "drain") {
      await faulty.project.kubectl(["apply", "-f", "-"], slowPod(`${faulty.cluster}-workers-1`));
    }
    configure(point.workers);
  }

  function configure(count: number): void {
    faulty.project.configure({
      name: faulty.cluster,
      controlPlane: { schedulable: true },
      pools: count === 0 ? [] : [{ name: "workers", count }],
    });
  }

  async function nodes(): Promise<Record<string, string>> {
    const found = await faulty.project.kubectlJson<{ items: { metadata: { name: string; uid: string } }[] }>(
      "get",
      "nodes",
    );
    return Object.fromEntries(found.items.map(({ metadata }) => [metadata.name, metadata.uid]));
  }

  /** Of the nodes that were there before, those that the point does not remove. */
  function survivorsOf(uids: Record<string, string>, point: Point): Record<string, string> {
    const stay = (name: string) => point.verb === "up" && (point.workers > 0 || !name.includes("-workers-"));
    return Object.fromEntries(Object.entries(uids).filter(([name]) => stay(name)));
  }

  async function expectConverged(point: Point, before: readonly string[]): Promise<void> {
    const now = await faulty.things();
    if (point.verb === "down") {
      expect(now).toEqual([]);
      return;
    }
    const machines = (things: readonly string[]) => things.filter((thing) => thing.startsWith("container "));
    expect(machines(now)).toHaveLength(1 + point.workers);
    expect(now.filter((thing) => thing.startsWith("network "))).toHaveLength(1);
    const older = machines(before);
    expect(older.filter((machine) => now.includes(machine))).toHaveLength(Math.min(older.length, machines(now).length));
    expect(await faulty.project.run("preview")).toContain(`${rows(point.workers)} unchanged`);
    await faulty.project.fetchKubeconfig();
  }
});

afterAll(() => writeTable());

function expectToldAndQuick(
  { exitCode, seconds, output }: { exitCode: number; seconds: number; output: string },
  how: Interruption,
) {
  expect(exitCode, output).not.toBe(0);
  if (how !== "kill -9") {
    expect(seconds).toBeLessThan(10);
    expect(output).toMatch(/interrupted/i);
  }
  // Not a word of a program that fell over.
  expect(output).not.toMatch(/\n\s+at .*\(.*:\d+:\d+\)/);
}

/** The command's own sentences in the output of the next run. */
function toldBy(output: string): string {
  return output
    .split("\n")
    .filter((line) => /^(Took away|Clearing|An interrupted run)/.test(line))
    .join(" ");
}

/** A pod that takes its time to end, so that a drain lasts. */
function slowPod(node: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "slow" },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 6,
      containers: [{ name: "slow", image: "localhost/kubicorn-hello:1", imagePullPolicy: "Never" }],
    },
  });
}
