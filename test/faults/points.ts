/**
 * The points of a cluster's life at which a run is interrupted: how the cluster is configured, what runs, and when it is so far.
 */
import { execa } from "execa";
import type { Faulty } from "./interrupted-run";

export interface Point {
  readonly name: string;
  /** How many workers the cluster has before; `undefined` where there is no cluster yet. */
  readonly before: number | undefined;
  /** How many it is to have; 0 of none is a cluster of one machine. */
  readonly workers: number;
  readonly verb: "up" | "down";
  /** Whether the run is at the point, by what it has printed and by what is there. */
  isThere(output: string, faulty: Faulty): Promise<boolean>;
}

const printed =
  (pattern: RegExp): Point["isThere"] =>
  async (output) =>
    pattern.test(output);

/** In the order of a cluster's life. */
export const points: readonly Point[] = [
  { name: "network", before: undefined, workers: 0, verb: "up", isThere: printed(/local:Network .*creating/) },
  { name: "machine creation", before: undefined, workers: 0, verb: "up", isThere: printed(/local:Machine .*creating/) },
  { name: "cloud-init", before: undefined, workers: 0, verb: "up", isThere: printed(/local:Machine .*created/) },
  {
    name: "kubeadm init",
    before: undefined,
    workers: 0,
    verb: "up",
    isThere: async (_output, faulty) => {
      const [machine] = (await faulty.things()).filter((thing) => thing.startsWith("container "));
      const manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml";
      const look = ["exec", machine?.split(" ")[1] ?? "", "test", "-e", manifest];
      return machine !== undefined && (await execa("podman", look, { reject: false })).exitCode === 0;
    },
  },
  {
    name: "readiness wait",
    before: undefined,
    workers: 0,
    verb: "up",
    isThere: printed(/guest:Node .*waiting for node .* to be Ready/),
  },
  { name: "join", before: 0, workers: 1, verb: "up", isThere: printed(/joining the cluster/) },
  {
    name: "drain",
    before: 1,
    workers: 0,
    verb: "up",
    isThere: async (_output, { project, cluster }) =>
      (await project.kubectl(["get", "node", `${cluster}-workers-1`, "-o", "jsonpath={.spec.unschedulable}"])) ===
      "true",
  },
  { name: "machine removal", before: 1, workers: 0, verb: "up", isThere: printed(/local:Machine .*deleting/) },
  { name: "destroy", before: 1, workers: 1, verb: "down", isThere: printed(/guest:Node .*delet/) },
];
