import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../cloud/errors";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { settingsReference, stackFileJsonSchema } from "../../cloud/spec-reference";

function refusal(input: unknown): string {
  try {
    parseClusterSpec(input);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).message;
  }
  throw new Error("the spec was accepted");
}

test("fills in every default", () => {
  expect(parseClusterSpec({ name: "dev", pools: [{ name: "workers" }] })).toEqual({
    name: "dev",
    cloud: "local",
    kubernetesVersion: "1.37.2",
    network: { pods: "10.244.0.0/16", services: "10.96.0.0/16" },
    controlPlane: { count: 1, schedulable: false, kubelet: {} },
    pools: [{ name: "workers", count: 1, labels: {}, taints: [], kubelet: {}, drainSeconds: 300, surge: 2 }],
  });
});

test("takes a setting that a program writes and leaves open as one that is not written", () => {
  const open = {
    name: "dev",
    network: { machines: undefined, pods: undefined },
    pools: undefined,
    controlPlane: undefined,
  };
  expect(parseClusterSpec(open)).toEqual(parseClusterSpec({ name: "dev" }));
});

describe("refuses, with path, value and what is allowed", () => {
  test.each([
    [{}, "name: missing; a name is expected"],
    [{ name: "Dev" }, "name: \"Dev\" is not allowed; lower-case letters, digits and '-'"],
    [{ name: "dev_1" }, 'name: "dev_1" is not allowed; lower-case letters'],
    [{ name: "1dev" }, 'name: "1dev" is not allowed; lower-case letters'],
    [{ name: "dev.eu" }, 'name: "dev.eu" is not allowed; lower-case letters'],
    [{ name: "d".repeat(31) }, "at most 30 characters are allowed"],
    [{ name: "dev", cloud: "aws" }, 'cloud: "aws" is not allowed; local is allowed'],
    [{ name: "dev", kubernetesVersion: "1.20" }, 'kubernetesVersion: "1.20" is not allowed; one of 1.37.2 is allowed'],
    [{ name: "dev", kubernetesVersion: 1.37 }, "kubernetesVersion: 1.37 is not allowed"],
    [{ name: "dev", controlPlane: { count: 2 } }, "controlPlane.count: 2 is not allowed; 1 is allowed"],
    [
      { name: "dev", controlPlane: { schedulable: "yes" } },
      'controlPlane.schedulable: "yes" is not allowed; true or false',
    ],
    [{ name: "dev", pools: "three" }, 'pools: "three" is not allowed; a list of pools is expected'],
    [
      { name: "dev", pools: [{ name: "a" }, { name: "b", count: -1 }] },
      "pools[1].count: -1 is not allowed; a whole number from 0 to 250",
    ],
    [{ name: "dev", pools: [{ name: "a", count: 1.5 }] }, "pools[0].count: 1.5 is not allowed; a whole number"],
    [{ name: "dev", pools: [{ name: "a", count: "3" }] }, 'pools[0].count: "3" is not allowed; a whole number'],
    [{ name: "dev", pools: [{ name: "control-plane" }] }, "'control-plane' is taken"],
    [
      { name: "dev", pools: [{ name: "a" }, { name: "a" }] },
      'pools[1].name: "a" is not allowed; each pool needs a name of its own, and pools[0] has this one',
    ],
    [
      { name: "dev", pools: [{ name: "a", labels: { "no spaces": "x" } }] },
      'pools[0].labels["no spaces"]: "x" is not allowed; a Kubernetes label key is expected',
    ],
    [{ name: "dev", pools: [{ name: "a", labels: { disk: true } }] }, "quote numbers and booleans"],
    [
      { name: "dev", pools: [{ name: "a", taints: [{ key: "gpu", effect: "Never" }] }] },
      'pools[0].taints[0].effect: "Never" is not allowed; NoSchedule',
    ],
    [{ name: "dev", pools: [{ name: "a", memoryGiB: 0.1 }] }, "pools[0].memoryGiB: 0.1 is not allowed"],
    // The engine would refuse these only when the machine is made.
    [
      { name: "dev", pools: [{ name: "a", memoryGiB: 1e300 }] },
      "memoryGiB: 1e+300 is not allowed; a number of GiB from",
    ],
    [
      { name: "dev", pools: [{ name: "a", cpus: 0.001 }] },
      "pools[0].cpus: 0.001 is not allowed; a number of processors",
    ],
    [{ name: "dev", controlPlane: { cpus: 5000 } }, "controlPlane.cpus: 5000 is not allowed; a number of processors"],
    [
      { name: "dev", pools: [{ name: "a", image: "--privileged" }] },
      'pools[0].image: "--privileged" is not allowed; an image\'s reference is expected',
    ],
    [
      { name: "dev", pools: [{ name: "a", surge: 0 }] },
      "pools[0].surge: 0 is not allowed; a whole number from 1 to 10",
    ],
    [{ name: "dev", workers: 3 }, "workers: 3 is not allowed; there is no such setting"],
    [{ name: "dev", poools: [] }, "poools: [] is not allowed; there is no such setting; did you mean pools?"],
    [
      { name: "dev", pools: [{ name: "a", memoryGB: 4 }] },
      "pools[0].memoryGB: 4 is not allowed; there is no such setting; did you mean memoryGiB?",
    ],
    [
      { name: "dev", network: { service: "10.96.0.0/16" } },
      'network.service: "10.96.0.0/16" is not allowed; there is no such setting; did you mean services?',
    ],
    [
      { name: "dev", network: 7 },
      "network: 7 is not allowed; settings by name are expected, as in { pods: 10.244.0.0/16 }",
    ],
    [{ name: "dev", controlPlane: [1] }, "controlPlane: [1] is not allowed; settings by name are expected"],
    [
      { name: "dev", pools: [null] },
      "pools[0]: null is not allowed; settings by name are expected, as in { name: workers",
    ],
    [
      { name: "dev", pools: [{ name: "a", labels: ["x"] }] },
      'pools[0].labels: ["x"] is not allowed; labels by key are',
    ],
    [{ name: "dev", pools: [{ name: "a", labels: { "a..b/c": "x" } }] }, "a Kubernetes label key is expected"],
    [{ name: "dev", pools: [{ name: "a", labels: { [`${"a".repeat(254)}/c`]: "x" } }] }, "a Kubernetes label key is"],
    [
      { name: "dev", pools: [{ name: "a", taints: "no" }] },
      'pools[0].taints: "no" is not allowed; a list of taints is',
    ],
    [
      { name: "dev", network: { machines: "127.0.0.0/8" } },
      'network.machines: "127.0.0.0/8" is not allowed; another range',
    ],
    [{ name: "dev", network: { pods: "224.0.0.0/8" } }, "another range is needed: 224.0.0.0/4 is for multicast"],
    [
      { name: "dev", pools: [{ name: "a", size: "big" }] },
      'pools[0].size: "big" is not allowed; there is no such setting',
    ],
    [
      { name: "dev", network: { pods: "10.244.0.1/16" } },
      'network.pods: "10.244.0.1/16" is not allowed; it has host bits set',
    ],
    [
      { name: "dev", network: { services: "10.244.4.0/24" } },
      'network.services: "10.244.4.0/24" is not allowed; it must not overlap with network.pods',
    ],
    [{ name: "dev", network: { services: "10.0.0.0/8" } }, "a range of at most a /12 is allowed"],
    [{ name: "dev", network: { pods: "64.0.0.0/7" } }, "a range of at most a /8 is allowed"],
    [{ name: "dev", network: { machines: "10.0.0.0/8" } }, "it must not overlap with network."],
    [
      { name: "dev", network: { machines: "10.99.0.0/29" } },
      'network.machines: "10.99.0.0/29" is not allowed; 1 machines need at least a /28',
    ],
    [{ name: "dev", network: { pods: "10.244.0.0/24" }, pools: [{ name: "a" }] }, "2 machines need at least a /23"],
  ])("%j", (input, expected) => {
    expect(refusal(input)).toContain(expected);
  });
});

test("takes what a program writes as undefined for left out", () => {
  const input = { name: "dev", network: { machines: undefined, pods: undefined }, pools: undefined };
  expect(parseClusterSpec(input).network).toMatchObject({ pods: "10.244.0.0/16", services: "10.96.0.0/16" });
});

describe("a label", () => {
  test.each([
    ["example.com/disk", true],
    ["disk", true],
    ["node.kubernetes.io/role", true],
    ["node-restriction.kubernetes.io/tier", true],
    ["node-role.kubernetes.io/worker", true],
    ["topology.kubernetes.io/zone", true],
    ["kueue.x-k8s.io/group", true],
    ["kubernetes.io/hostname", false],
    ["kubernetes.io/os", false],
    ["beta.kubernetes.io/arch", false],
    ["failure-domain.beta.kubernetes.io/zone", false],
    ["node.kubernetes.io/instance-type", false],
    ["node-role.kubernetes.io/control-plane", false],
    ["node-role.kubernetes.io/master", false],
    ["autoscaling.k8s.io/x", false],
    ["kubicorn.io/pool", false],
    ["sub.kubicorn.io/pool", false],
  ])("%s is a person's own: %s", (key, allowed) => {
    const input = { name: "dev", pools: [{ name: "a", labels: { [key]: "x" } }] };
    if (allowed) {
      expect(parseClusterSpec(input).pools[0]?.labels).toEqual({ [key]: "x" });
    } else {
      expect(refusal(input)).toMatch(/pools\[0\]\.labels\["[^"]+"\]: "x" is not allowed; another key is needed: /);
    }
  });
});

describe("a taint", () => {
  const of = (...taints: object[]) => ({ name: "dev", pools: [{ name: "a", taints }] });

  test.each([
    ["node.kubernetes.io/unschedulable", "it belongs to Kubernetes"],
    ["node-role.kubernetes.io/control-plane", "it belongs to Kubernetes"],
    ["kubicorn.io/x", "it belongs to this program"],
  ])("with the key %s is refused: %s", (key, reason) => {
    expect(refusal(of({ key, effect: "NoSchedule" }))).toContain(`pools[0].taints[0].key: "${key}" is not allowed`);
    expect(refusal(of({ key, effect: "NoSchedule" }))).toContain(reason);
  });

  test("twice with one key and effect is refused, with two effects it is not", () => {
    const [first, second] = [
      { key: "gpu", value: "a", effect: "NoSchedule" },
      { key: "gpu", value: "b", effect: "NoSchedule" },
    ];
    expect(refusal(of(first, second))).toContain(
      'pools[0].taints[1].key: "gpu" is not allowed; a node has one taint of a key and effect, and taints[0] is that',
    );
    expect(parseClusterSpec(of(first, { ...second, effect: "NoExecute" })).pools[0]?.taints).toHaveLength(2);
  });
});

describe("kubelet settings", () => {
  const of = (kubelet: unknown) => ({ name: "dev", pools: [{ name: "a", kubelet }] });

  test.each([
    { maxPods: 50 },
    { evictionHard: { "memory.available": "200Mi" }, systemReserved: { cpu: "100m" } },
    { featureGates: { NodeSwap: false }, shutdownGracePeriod: "1m30s", memoryThrottlingFactor: 0.9 },
    { reservedMemory: [{ numaNode: 0, limits: { memory: "1Gi" } }], memorySwap: { swapBehavior: "NoSwap" } },
  ])("%j are taken as they are", (kubelet) => {
    expect(parseClusterSpec(of(kubelet)).pools[0]?.kubelet).toEqual(kubelet);
    const controlPlane = { kubelet };
    expect(parseClusterSpec({ name: "dev", controlPlane }).controlPlane.kubelet).toEqual(kubelet);
  });

  test.each([
    [
      { maxpods: 50 },
      "pools[0].kubelet.maxpods: 50 is not allowed; KubeletConfiguration has no such field; maxPods is",
    ],
    [{ maxPodz: 50 }, "KubeletConfiguration has no such field; maxPods is probably meant"],
    [{ nonsense: 1 }, "KubeletConfiguration has no such field\n"],
    [{ maxPods: "50" }, 'pools[0].kubelet.maxPods: "50" is not allowed; a whole number is expected, without quotes'],
    [{ maxPods: 0 }, "a whole number from 1 to 250 is allowed"],
    [{ maxPods: 251 }, "a machine has 256 pod addresses"],
    [{ maxPods: null }, "pools[0].kubelet.maxPods: null is not allowed; a whole number"],
    [{ evictionHard: { "memory.available": 5 } }, 'texts by name are expected, as in { "memory.available": "200Mi" }'],
    [{ shutdownGracePeriod: "long" }, 'a duration is expected, as in "1m30s"'],
    [{ reservedMemory: [null] }, "a list is expected, without empty values"],
    [{ seccompDefault: "yes" }, "true or false is expected"],
    [{ clusterDNS: ["10.96.0.10"] }, "this field cannot be set here: every machine of the cluster needs the same"],
    [{ cgroupDriver: "systemd" }, "this field cannot be set here: it is found out on each machine"],
    [{ staticPodPath: "/x" }, "this field cannot be set here: kubeadm keeps the control plane's pods there"],
    [{ authentication: {} }, "this field cannot be set here: kubelet takes orders from the API server only"],
    [{ constructor: 1 }, "KubeletConfiguration has no such field"],
    ["maxPods", "fields of KubeletConfiguration are expected"],
  ])("%j is refused", (kubelet, expected) => {
    expect(refusal(of(kubelet))).toContain(expected);
  });
});

describe("the limit of a drain", () => {
  test.each([0, -1, 1.5, 86_401, "60"])("of %j is refused", (drainSeconds) => {
    expect(refusal({ name: "dev", pools: [{ name: "a", drainSeconds }] })).toContain(
      "a whole number from 1 to 86400 is allowed",
    );
  });
});

test("tells all violations at once, also those between settings", () => {
  const message = refusal({ name: "Dev", cloud: "mars", pools: [{ name: "a", count: -1 }, { name: "a" }] });
  expect(message).toMatch(
    /has 4 values that are not allowed:\n {2}- name: .*\n {2}- cloud: .*\n {2}- pools\[0\]\.count: .*\n {2}- pools\[1\]\.name: .*\nNothing was changed\.$/,
  );
});

test("anything at all is either refused as an InputError or becomes a whole spec", () => {
  const wild = fc.record(
    {
      name: fc.oneof(fc.constant("dev"), fc.string(), fc.anything()),
      cloud: fc.oneof(fc.constant("local"), fc.anything()),
      network: fc.oneof(fc.record({ pods: fc.string(), machines: fc.anything() }), fc.anything()),
      controlPlane: fc.anything(),
      pools: fc.oneof(fc.array(fc.record({ name: fc.string(), count: fc.anything() })), fc.anything()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(wild, (input) => {
      try {
        expect(parseClusterSpec(input).network.pods).toBeTypeOf("string");
      } catch (error) {
        expect(error).toBeInstanceOf(InputError);
        expect((error as InputError).violations.length).toBeGreaterThan(0);
      }
    }),
  );
});

describe("what is generated from the schema is up to date (npx vitest run --project unit -u writes it anew)", () => {
  test("the JSON Schema of stack files, for editors", async () => {
    const text = `${JSON.stringify(stackFileJsonSchema("pulumi-kubicorn"), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../docs/stack.schema.json");
  });

  test("the reference page", async () => {
    await expect(settingsReference()).toMatchFileSnapshot("../../docs/configuration.md");
  });
});
