/**
 * User data: golden files of every variant, its size, and values that must not break out of their place.
 * `npx vitest run test/unit/bootstrap-user-data.test.ts -u` writes the golden files anew.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { discoveryFile, joinConfiguration } from "../../bootstrap/kubeadm-config";
import { machineDataFile } from "../../bootstrap/machine-data";
import { podNetworkManifest } from "../../bootstrap/pod-network";
import { scriptText } from "../../bootstrap/scripts";
import {
  type ControlPlaneMachine,
  controlPlaneUserData,
  userDataSize,
  type WorkerMachine,
  workerUserData,
} from "../../bootstrap/user-data";

const shared = {
  cluster: "demo",
  kubernetesVersion: "1.37.2",
  endpoint: { name: "api.demo.kubicorn.internal", port: 6443 },
  access: {
    authorizedKey: "ssh-ed25519 AAAAuser demo",
    hostKey: { publicKey: "ssh-ed25519 AAAAhost", privateKey: "-----BEGIN KEY-----\nabc\n-----END KEY-----\n" },
  },
};

const controlPlane: ControlPlaneMachine = {
  ...shared,
  machine: "demo-control-plane-1",
  podRange: "10.244.0.0/16",
  serviceRange: "10.96.0.0/16",
  schedulable: false,
  podNetworkBackend: "host-gw",
  kubelet: { imageGCHighThresholdPercent: 100 },
  ownKubelet: { maxPods: 50, evictionHard: { "memory.available": "100Mi" } },
};

const worker: WorkerMachine = {
  ...shared,
  machine: "demo-workers-1",
  pool: "workers",
  labels: { "example.com/disk": "fast", "node-role.kubernetes.io/worker": "" },
  taints: [
    { key: "dedicated", value: "batch", effect: "NoSchedule" },
    { key: "spare", value: "", effect: "PreferNoSchedule" },
  ],
};

/** The user data with the scripts' texts left out, since they are files of their own. */
function outline(userData: string): string {
  return scriptNames().reduce((text, name) => {
    const indented = scriptText(name)
      .replace(/^(?=.)/gm, "      ")
      .trimEnd();
    return text.replace(indented, `      (${name})`);
  }, userData);
}

function scriptNames(): string[] {
  return readdirSync("bootstrap/scripts").filter((name) => name !== "sent");
}

function evaluated(file: string, key: string): string {
  const folder = mkdtempSync(join(tmpdir(), "kubicorn-data-"));
  try {
    writeFileSync(join(folder, "machine.env"), file);
    return execFileSync("bash", ["-c", `source "$1"; printf %s "$${key}"`, "bash", join(folder, "machine.env")], {
      encoding: "utf8",
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("user data", () => {
  const variants: [string, string][] = [
    ["control-plane", controlPlaneUserData(controlPlane)],
    [
      "control-plane-schedulable-vxlan",
      controlPlaneUserData({ ...controlPlane, schedulable: true, podNetworkBackend: "vxlan" }),
    ],
    ["worker", workerUserData(worker)],
    ["worker-plain", workerUserData({ ...worker, labels: {}, taints: [] })],
  ];

  it.each(variants)("of a %s is as the golden file says", async (name, text) => {
    await expect(outline(text)).toMatchFileSnapshot(`golden/user-data-${name}.yaml`);
  });

  it.each(variants)("of a %s fits the cloud with the smallest limit once compressed, with room", (_name, text) => {
    expect(userDataSize(text).compressed).toBeLessThan(12 * 1024);
    expect(userDataSize(text).raw).toBeGreaterThan(userDataSize(text).compressed);
  });

  it.each(variants)("of a %s delivers scripts byte for byte", (_name, text) => {
    const files: { path: string; content: string }[] = parse(text).write_files;
    const delivered = files.filter(({ path }) => path.endsWith(".sh"));
    expect(delivered.length).toBeGreaterThan(4);
    for (const { path, content } of delivered) {
      expect(content).toBe(readFileSync(join("bootstrap/scripts", path.split("/").pop() ?? ""), "utf8"));
    }
  });

  it("has no carriage return, whatever the checkout did to line ends", () => {
    for (const [, text] of variants) {
      expect(text).not.toContain("\r");
    }
  });

  it("holds no credential of the cluster on a worker", () => {
    expect(workerUserData(worker)).not.toMatch(/token: |certificate-authority-data: \S/);
  });

  it("gives every delivered script to at least one role, and only what a role runs", () => {
    const names = (text: string) => parse(text).write_files.map(({ path }: { path: string }) => path.split("/").pop());
    const [first, join] = [names(controlPlaneUserData(controlPlane)), names(workerUserData(worker))];
    expect(new Set([...first, ...join])).toEqual(
      new Set([
        ...scriptNames(),
        "machine.env",
        "kubeadm.yaml",
        "kubeletconfiguration1+merge.json",
        "pod-network.yaml",
      ]),
    );
    expect(first).not.toContain("join.sh");
    expect(join).not.toContain("initialize-control-plane.sh");
  });
});

describe("a machine's data file", () => {
  const data = {
    ROLE: "worker",
    CLUSTER: "demo",
    MACHINE: "demo-workers-1",
    KUBERNETES_VERSION: "1.37.2",
    ENDPOINT_NAME: "api.demo.kubicorn.internal",
    ENDPOINT_PORT: "6443",
  } as const;

  it.each(["plain", "two words", "it's", `"$HOME" $(id) \`id\``, "back\\slash", "'", "äöü 漢字", ""])(
    "gives %j back to a shell",
    (value) => {
      expect(evaluated(machineDataFile({ ...data, CLUSTER: value }), "CLUSTER")).toBe(value);
    },
  );

  it.each(["a\nb", "a\r\nb", "a\u0000b", "\u007f"])("refuses %j and names the key", (value) => {
    expect(() => machineDataFile({ ...data, CLUSTER: value })).toThrow(/^CLUSTER of a machine's data has a line end/);
  });

  it("gives any printable text back", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }).filter((text) => !/\p{Cc}/u.test(text)),
        (value) => {
          expect(evaluated(machineDataFile({ ...data, CLUSTER: value }), "CLUSTER")).toBe(value);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("kubeadm's configuration", () => {
  it("names the endpoint, never an address, and the certificate carries the loopback address", () => {
    const files: { path: string; content: string }[] = parse(controlPlaneUserData(controlPlane)).write_files;
    const text = files.find(({ path }) => path.endsWith("kubeadm.yaml"))?.content ?? "";
    const cluster = parseAllDocuments(text).map((document) => document.toJS())[1];
    expect(cluster.controlPlaneEndpoint).toBe("api.demo.kubicorn.internal:6443");
    expect(cluster.apiServer.certSANs).toEqual(["127.0.0.1", "localhost", "api.demo.kubicorn.internal"]);
  });

  it("registers a node with its taints and the labels that kubelet may set", () => {
    const { nodeRegistration } = parse(joinConfiguration(worker));
    expect(nodeRegistration.taints).toEqual([
      { key: "dedicated", value: "batch", effect: "NoSchedule" },
      { key: "spare", effect: "PreferNoSchedule" },
    ]);
    expect(nodeRegistration.kubeletExtraArgs).toEqual([
      { name: "node-labels", value: "example.com/disk=fast,kubicorn.io/pool=workers" },
    ]);
  });

  it("gives a joining machine the CA and one credential", () => {
    const file = parse(
      discoveryFile({ endpoint: shared.endpoint, caCertificate: "PEM", token: "abcdef.0123456789abcdef" }),
    );
    expect(file.clusters[0].cluster).toEqual({
      server: "https://api.demo.kubicorn.internal:6443",
      "certificate-authority-data": Buffer.from("PEM").toString("base64"),
    });
    expect(file.users[0].user).toEqual({ token: "abcdef.0123456789abcdef" });
  });
});

describe("the pod network", () => {
  it.each(["host-gw", "vxlan"] as const)("with the backend %s is as the golden file says", async (backend) => {
    const text = podNetworkManifest({ podRange: "10.244.0.0/16", backend, endpoint: shared.endpoint });
    await expect(text).toMatchFileSnapshot(`golden/pod-network-${backend}.yaml`);
  });
});
