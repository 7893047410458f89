/**
 * Bootstraps that fail on real machines, each for another cause: what is wrong and the last lines of the log reach the
 * terminal within seconds, and once the cause is mended the same machine gets there.
 */
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterApi, clusterApi } from "../../bootstrap/api";
import { joinMachine } from "../../bootstrap/join";
import { discoveryFile } from "../../bootstrap/kubeadm-config";
import { type NodeExpected, node } from "../../bootstrap/node";
import { runScript } from "../../bootstrap/on-machine";
import { RecordingContext } from "../doubles/context";
import {
  Bench,
  type BenchMachine,
  failureOf,
  joinInformationOf,
  kubeconfigOf,
  kubernetesVersion,
  onMachine,
} from "./bench-machine";

let bench: Bench;

beforeAll(async () => {
  bench = await Bench.make();
});

afterAll(async () => {
  await bench?.remove();
});

const program = (path: string, body: string) =>
  `printf '#!/bin/bash\\n%s\\n' '${body}' >${path}.new; chmod 755 ${path}.new; mv ${path}.new ${path}`;
/** A file system of its own with no room left. */
const full = (folder: string, mebibytes = 1) =>
  `mkdir -p ${folder}; mount -t tmpfs -o size=${mebibytes}M tmpfs ${folder}; dd if=/dev/zero of=${folder}/filler bs=4k || true`;

interface Fault {
  readonly name: string;
  readonly faults: readonly string[];
  /** Lines of what is told, in this order. */
  readonly told: RegExp;
  /** From the machine's making to the end of the wait. */
  readonly seconds: number;
}

const controlPlaneFaults: readonly Fault[] = [
  {
    name: "kubeadm-version",
    faults: [program("/usr/local/bin/kubeadm", "echo v1.36.0")],
    told: /container runtime and kubelet\n[\s\S]*kubeadm v1.37.2 is needed, but this machine's image has v1.36.0/,
    seconds: 20,
  },
  {
    name: "kubelet-crashes",
    faults: [
      program(
        "/usr/local/bin/kubelet",
        "[[ $1 == --version ]] && echo Kubernetes v1.37.2 && exit; echo kubelet is broken; exit 1",
      ),
    ],
    told: /failed at: waiting for the API server to serve\n[\s\S]*kubelet does not run on this machine[\s\S]*kubelet is broken/,
    seconds: 40,
  },
  {
    name: "containerd-configuration",
    faults: ["echo 'this is = no [toml' >/etc/containerd/config.toml", "systemctl stop --no-block containerd"],
    told: /failed at: preparing the machine: container runtime and kubelet\n[\s\S]*toml/,
    seconds: 25,
  },
  {
    name: "image-missing",
    faults: [
      // As a machine without a way out: no registry can be reached.
      "iptables -A OUTPUT -p tcp --dport 443 -j DROP; iptables -A OUTPUT -p udp --dport 53 -j DROP",
      "systemctl start containerd; ctr -n k8s.io images rm $(ctr -n k8s.io images ls -q | grep etcd)",
    ],
    told: /failed at: starting etcd and the API server \(kubeadm init\)\n[\s\S]*etcd/,
    seconds: 60,
  },
  {
    name: "var-full",
    faults: [full("/var/log"), full("/var/lib/kubicorn")],
    told: /^[^\n]*bringing up the machine failed[^\n]*: the bootstrap failed at: [^\n]*\nthe disk is full: \/var\/l/,
    seconds: 20,
  },
  {
    name: "etcd-disk-full",
    faults: [full("/var/lib/etcd", 20)],
    told: /the disk is full: \/var\/lib\/etcd has/,
    seconds: 20,
  },
  {
    name: "clock-behind",
    faults: [program("/usr/local/bin/date", 'exec /bin/date -d "-5 hours" "$@"')],
    told: /clock is (5 h 0 min|4 h 59 min) \d+ s behind the clock of the computer/,
    seconds: 30,
  },
];

describe("a control plane whose bootstrap fails", () => {
  it.each(controlPlaneFaults)(
    "$name",
    async ({ name, faults, told, seconds }) => {
      const machine = await bench.controlPlane(`bench-${name}`, faults);
      const failure = await failureOf(joinInformationOf(machine), machine.began);
      console.log(`${name}: told after ${failure.seconds.toFixed(1)} s:\n${failure.told}\n`);
      expect(failure.told).toMatch(told);
      expect(failure.seconds).toBeLessThan(seconds);
      await onMachine(machine, "true");
    },
    120_000,
  );
});

describe("a control plane that was mended", () => {
  it("is taken up by the next run, after a full disk and after its bootstrap was killed, without a new machine", async () => {
    const machine = await bench.controlPlane("bench-mended", [full("/var/lib/kubicorn")]);
    expect((await failureOf(joinInformationOf(machine), machine.began)).told).toContain("the disk is full");
    const passTime = "sudo touch --date '-1 minute' /run/kubicorn/told";
    await onMachine(machine, `sudo umount /var/lib/kubicorn && ${passTime}`);
    const killed = onMachine(
      machine,
      "until grep -q kubeadm /run/kubicorn/status; do sleep 0.05; done; sudo systemctl kill --signal KILL kubicorn-bootstrap",
    );
    const began = performance.now();
    const { told, seconds } = await failureOf(joinInformationOf(machine), began);
    await killed;
    console.log(`killed: told after ${seconds.toFixed(1)} s:\n${told}\n`);
    expect(told).toMatch(/the bootstrap was ended from outside at: /);
    expect(seconds).toBeLessThan(20);
    await onMachine(machine, passTime);
    expect((await joinInformationOf(machine)).id).toMatch(/^sha256:/);
  }, 180_000);
});

describe("a join that fails", () => {
  let api: ClusterApi;
  let kubeconfig: string;
  let first: BenchMachine;
  let caCertificate: string;

  beforeAll(async () => {
    first = await bench.controlPlane("bench-first");
    [{ caCertificate }, kubeconfig] = await Promise.all([
      joinInformationOf(first).then(({ actual }) => actual),
      kubeconfigOf(bench, first),
    ]);
    api = await clusterApi(kubeconfig);
  }, 180_000);

  const join = async (machine: BenchMachine, changed: { caCertificate?: string } = {}) => {
    const apiEndpoint = `${bench.endpoint.name}:${bench.endpoint.port}`;
    const endpointAddress = first.recorded.actual.address;
    const { name, access } = machine;
    const joining = {
      machine: name,
      access,
      apiEndpoint,
      endpointAddress,
      caCertificate,
      found: undefined,
      kubelet: {},
      ...changed,
    };
    await joinMachine(api, joining, new RecordingContext());
  };

  const told = async (machine: BenchMachine, joining: Promise<void>, limit: number) => {
    const failure = await failureOf(joining, machine.began);
    console.log(`${machine.name}: told after ${failure.seconds.toFixed(1)} s:\n${failure.told}\n`);
    expect(failure.seconds).toBeLessThan(limit);
    return failure.told;
  };

  it("since kubelet crashes, tells that with its journal; the same machine joins once it is mended", async () => {
    const machine = await bench.worker("bench-kubelet", [
      "mv /usr/local/bin/kubelet /root/kubelet",
      program(
        "/usr/local/bin/kubelet",
        "[[ $1 == --version ]] && echo Kubernetes v1.37.2 && exit; echo kubelet is broken; exit 1",
      ),
    ]);
    expect(await told(machine, join(machine), 40)).toMatch(
      /kubelet does not run on this machine; it says:\n[\s\S]*kubelet is broken/,
    );
    await onMachine(machine, "sudo mv /root/kubelet /usr/local/bin/kubelet");
    await join(machine);
  }, 120_000);

  it("since a firewall keeps the API from it, tells where it could not get to", async () => {
    const machine = await bench.worker("bench-firewall", ["iptables -A OUTPUT -p tcp --dport 6443 -j DROP"]);
    expect(await told(machine, join(machine), 60)).toMatch(
      /the API at https:\/\/api\.bench-\d+\.internal:6443 \(10\.[\d.]+\) cannot be reached from here: .*(timed|timeout)/i,
    );
  }, 120_000);

  it("since another cluster answers, tells that at once", async () => {
    const machine = await bench.worker("bench-authority");
    const other = await onMachine(first, "sudo cat /etc/kubernetes/pki/front-proxy-ca.crt");
    expect(await told(machine, join(machine, { caCertificate: other }), 20)).toMatch(/is not that of this cluster/);
  }, 120_000);

  it("since its token is gone, tells that", async () => {
    const machine = await bench.worker("bench-token");
    const discovery = { endpoint: bench.endpoint, caCertificate, token: "abcdef.0123456789abcdef" };
    const script = ["join.sh", first.recorded.actual.address];
    const { access, name } = machine;
    const command = { operation: "joining", machine: name, script, stdin: discoveryFile(discovery), seconds: 100 };
    const joining = runScript(access, command, new RecordingContext()).then(() => undefined);
    expect(await told(machine, joining, 40)).toMatch(/does not know the token of this join: it has expired/);
  }, 120_000);

  it("since its disk filled up meanwhile, names the disk", async () => {
    const machine = await bench.worker("bench-disk");
    await onMachine(machine, `sudo bash -c '${full("/var/lib/kubelet")}'`);
    expect(await told(machine, join(machine), 40)).toMatch(/the disk is full: \/var\/lib\/kubelet has 0 MiB left/);
  }, 120_000);

  it("since its clock is hours ahead, names the difference", async () => {
    const machine = await bench.worker("bench-clock", [
      program("/usr/local/bin/date", 'exec /bin/date -d "+3 hours" "$@"'),
    ]);
    expect(await told(machine, join(machine), 40)).toMatch(/clock is 2 h 59 min|clock is 3 h 0 min/);
  }, 120_000);

  it("since its machine restarts in the middle, goes on by itself; kubelet stopped later is seen at once and started", async () => {
    const machine = await bench.worker("bench-restart");
    const { name, access } = machine;
    const joining = join(machine);
    await onMachine(machine, "until [[ -e /etc/kubernetes/bootstrap-kubelet.conf ]]; do sleep 0.02; done");
    await execa(bench.engine, ["restart", "--time", "0", machine.recorded.id]);
    await joining;

    const endpoint = `${bench.endpoint.name}:${bench.endpoint.port}`;
    const wanted: NodeExpected = {
      ...{ machine: name, joins: true, access, apiEndpoint: endpoint, caCertificate, kubeconfig, kubernetesVersion },
      ...{
        endpointAddress: first.recorded.actual.address,
        labels: {},
        taints: [],
        pool: "workers",
        kubelet: {},
        drainSeconds: 60,
      },
    };
    const recorded = await node.apply(wanted, undefined, new RecordingContext());
    await onMachine(machine, "sudo systemctl stop kubelet.service");
    const began = performance.now();
    const seen = await node.actual(recorded, new RecordingContext());
    console.log(`a stopped kubelet is seen after ${((performance.now() - began) / 1000).toFixed(2)} s`);
    expect(seen?.conditions).toMatchObject([
      { type: "Ready", status: "False", message: "kubelet is inactive on its machine" },
    ]);
    expect(performance.now() - began).toBeLessThan(5000);
    const mended = await node.apply(wanted, { ...recorded, actual: seen ?? recorded.actual }, new RecordingContext());
    expect(mended.actual.uid).toBe(recorded.actual.uid);
    expect((await onMachine(machine, "systemctl is-active kubelet.service")).trim()).toBe("active");
  }, 180_000);
});
