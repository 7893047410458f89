/** A machine that joins anew registers its node with the labels and taints of its first boot: those that its pool lost since are found. */
import { expect, it } from "vitest";
import { joinConfiguration } from "../../bootstrap/kubeadm-config";
import { marksIn } from "../../bootstrap/registered-marks";

it("reads back what a machine's own configuration says", () => {
  const taints = [
    { key: "dedicated", value: "", effect: "NoExecute" },
    { key: "gpu", value: "a", effect: "NoSchedule" },
  ] as const;
  const text = joinConfiguration({
    machine: "demo-workers-1",
    pool: "workers",
    labels: { disk: "fast", empty: "" },
    taints,
  });
  expect(marksIn(text)).toEqual({ labels: { disk: "fast", empty: "", "kubicorn.io/pool": "workers" }, taints });
});

it.each(["", "a: [1", "kind: InitConfiguration\n", "[]"])("finds none in %j", (text) => {
  expect(marksIn(text)).toEqual({ labels: {}, taints: [] });
});
