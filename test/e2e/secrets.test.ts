/**
 * Every secret of a real cluster, looked for wherever one could leak to: state, output, temporary files, processes,
 * the machines' logs, and what the container engine tells of its containers.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { labelNames } from "../../providers/local/labels";
import { ClusterProject } from "./cluster-project";
import { SecretSampler } from "./secret-sampler";

const project = new ClusterProject();
const cluster = `secrets-${process.pid}`;
const temporary = mkdtempSync(join(tmpdir(), "kubicorn secrets "));
const marker = `marker-of-${process.pid}-fed-the-wrong-way`;
/** Texts by which each secret is known, whatever line ends or encoding it has. */
const secrets: Record<string, string[]> = {};
const outputs: Record<string, string> = {};
let sampler: SecretSampler;
let machines: string[] = [];

beforeAll(async () => {
  process.env.TMPDIR = temporary;
  project.configure({
    cloud: "local",
    name: cluster,
    controlPlane: { count: 1 },
    pools: [{ name: "workers", count: 1 }],
  });
  sampler = new SecretSampler(temporary);
  await feedMarker();
  outputs.preview = await project.run("preview");
  const tokens = new TokenCatcher();
  outputs.up = await project.run("up", "--yes", "--skip-preview");
  await tokens.stop();
  const passphrase = readFileSync(join(project.folder, ".pulumi-state/passphrase"), "utf8");
  secrets.passphrase = [passphrase];

  // From here on the passphrase is in the environment, and the join fails since the API refuses other machines.
  process.env.PULUMI_CONFIG_PASSPHRASE = passphrase;
  outputs.refresh = await project.run("refresh", "--yes", "--skip-preview");
  project.configure({
    cloud: "local",
    name: cluster,
    controlPlane: { count: 1 },
    pools: [{ name: "workers", count: 2 }],
  });
  await refuseOtherMachines();
  const more = new TokenCatcher();
  const failing = await project.start("up", "--yes", "--skip-preview");
  await more.stop();
  outputs["failing up"] = failing.all;
  expect(failing.exitCode, failing.all).not.toBe(0);
  secrets["join token"] = [...tokens.caught, ...more.caught];
  machines = await containers();
  await learnSecrets();
}, 300_000);

afterAll(async () => {
  const { exitCode, all } = await project.start("down", "--yes", "--skip-preview");
  sampler?.stop();
  delete process.env.TMPDIR;
  delete process.env.PULUMI_CONFIG_PASSPHRASE;
  project.remove();
  const left = sampler ? leaksIn(all) : [];
  rmSync(temporary, { recursive: true, force: true });
  expect(exitCode, all).toBe(0);
  expect(left).toEqual([]);
}, 120_000);

describe("no secret of the cluster", () => {
  it("is missing from this test: each was caught, and the sampler sees what is fed the wrong way", () => {
    for (const name of ["join token", "SSH private key", "host key", "passphrase", "kubeconfig", "authority key"]) {
      expect(secrets[name]?.length, name).toBeGreaterThan(0);
    }
    const found = sampler.find([marker]).map((where) => where.split(" ", 1)[0]);
    expect(new Set(found)).toEqual(new Set(["command", "environment", "temporary"]));
    expect(sampler.looks).toBeGreaterThan(50);
  });

  it("is in the state, its history and its copies", () => {
    expect(leaksIn(project.leftOnDisk(), ["passphrase"])).toEqual([]);
  });

  it.each(["preview", "up", "refresh", "failing up"])("is in the output of %s", (name) => {
    expect(outputs[name]?.length).toBeGreaterThan(100);
    expect(leaksIn(outputs[name] ?? "")).toEqual([]);
  });

  it("is in a command line, an environment or a temporary file while the cluster is made", () => {
    for (const [name, texts] of Object.entries(secrets)) {
      // A passphrase that the person has put into the environment is there for whatever their shell and Pulumi start, but
      // not for the container engine and the daemons that it leaves behind.
      const byNature = (where: string) =>
        name === "passphrase" &&
        where.startsWith("environment of") &&
        !/podman|docker|conmon|netavark|aardvark/.test(where);
      expect([name, sampler.find(texts, ({ where }) => !byNature(where))]).toEqual([name, []]);
    }
  });

  it("is in a log of a machine or in what the container engine tells", async () => {
    for (const machine of machines) {
      const logs = "journalctl --no-pager; find /var/log -type f -exec cat {} +; cat /proc/[0-9]*/environ";
      const { stdout } = await podman("exec", machine, "bash", "-c", logs);
      expect(stdout).toContain("kubelet");
      expect([machine, leaksIn(stdout)]).toEqual([machine, []]);
      const told = await podman("inspect", machine);
      expect([machine, leaksIn(told.stdout)]).toEqual([machine, []]);
    }
  });
});

/** This test's own calls of the container engine, without what only the command needs. */
async function podman(...args: string[]): Promise<{ stdout: string; exitCode?: number | undefined }> {
  const env = { PULUMI_CONFIG_PASSPHRASE: undefined };
  return await execa("podman", args, { env, reject: false, maxBuffer: 1e9 });
}

/** The names of the secrets that a text holds. */
function leaksIn(text: string, but: readonly string[] = []): string[] {
  const found = Object.entries(secrets).filter(([, texts]) => texts.some((one) => text.includes(one)));
  return found.map(([name]) => name).filter((name) => !but.includes(name));
}

/** Shows that the sampler sees a command line, an environment and a temporary file that last a moment. */
async function feedMarker(): Promise<void> {
  const file = join(temporary, "marker");
  writeFileSync(file, marker);
  await Promise.all([
    execa("bash", ["-c", `sleep 0.3; : ${marker}`]),
    execa("bash", ["-c", "sleep 0.3; : other"], { env: { MARKER: marker } }),
  ]);
  rmSync(file);
}

/** The cluster's containers; other clusters may run beside it. */
async function containers(role = ""): Promise<string[]> {
  const filter = `label=${labelNames.cluster}=${cluster}`;
  const { stdout } = await podman("ps", "--filter", filter, "--format", "{{.Names}}");
  return stdout.split("\n").filter((name) => name !== "" && name.includes(role));
}

/** Takes what the state and the control plane hold, decrypted. */
async function learnSecrets(): Promise<void> {
  const command = join(__dirname, "../../entry/command.cjs");
  const { stdout } = await execa(
    "bash",
    ["-c", `eval "$(node '${command}' env)"; pulumi stack export --show-secrets --stack local`],
    { cwd: project.folder, maxBuffer: 1e9 },
  );
  const { deployment } = exported.parse(JSON.parse(stdout));
  const outputsOf = (kind: RegExp): Record<string, unknown>[] =>
    deployment.resources.filter(({ urn }) => kind.test(urn)).map(({ outputs = {} }) => outputs);
  const privateKeys = (kind: RegExp) => outputsOf(kind).flatMap(({ privateKey }) => partsOf(plain(privateKey)));
  secrets["SSH private key"] = privateKeys(/SshKey/);
  secrets["host key"] = privateKeys(/HostKey/);
  const kubeconfig = parse(plain(outputsOf(/Kubeconfig/)[0]?.kubeconfig));
  const key: string = kubeconfig.users[0].user["client-key-data"];
  secrets.kubeconfig = [key.slice(0, 60), ...partsOf(Buffer.from(key, "base64").toString())];
  const [controlPlane = ""] = machines.filter((name) => name.includes("control-plane"));
  secrets["authority key"] = partsOf((await podman("exec", controlPlane, "cat", "/etc/kubernetes/pki/ca.key")).stdout);
}

const exported = z.object({
  deployment: z.object({
    resources: z.array(z.object({ urn: z.string(), outputs: z.record(z.string(), z.unknown()).optional() })),
  }),
});

/** A secret value in an exported state: JSON in an envelope. */
function plain(value: unknown): string {
  const envelope = z.object({ plaintext: z.string() }).safeParse(value);
  return z.string().parse(envelope.success ? JSON.parse(envelope.data.plaintext) : value);
}

/** The second line of a PEM's own text, which no other key has, and the same as a part of a longer base64 text. */
function partsOf(pem: string): string[] {
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  return [(lines.length > 2 ? lines[lines.length - 2] : lines[0]) as string];
}

/** Has the control plane refuse connections to its API from all but itself and this computer. */
async function refuseOtherMachines(): Promise<void> {
  const [machine = ""] = await containers("control-plane");
  const rules = [
    "iptables --insert INPUT --protocol tcp --dport 6443 --jump REJECT --reject-with tcp-reset",
    "iptables --insert INPUT --in-interface lo --jump ACCEPT",
    "iptables --insert INPUT --source $(ip route show default | cut --delimiter ' ' --fields 3) --jump ACCEPT",
  ];
  const { exitCode } = await podman("exec", machine, "bash", "-ec", rules.join("; "));
  expect(exitCode).toBe(0);
}

/** Asks the control plane again and again for join tokens. */
class TokenCatcher {
  readonly caught = new Set<string>();
  private stopped = false;
  private readonly running = this.run();

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const [machine] = await containers("control-plane");
      const kubectl = `kubectl --kubeconfig /etc/kubernetes/admin.conf --namespace kube-system`;
      const get = `${kubectl} get secrets --field-selector type=bootstrap.kubernetes.io/token --output json`;
      const found = await podman("exec", machine ?? "none", "bash", "-c", get);
      for (const { data } of found.exitCode === 0 ? tokens.parse(JSON.parse(found.stdout)).items : []) {
        this.caught.add(Buffer.from(data["token-secret"], "base64").toString());
      }
      await new Promise((next) => setTimeout(next, 100));
    }
  }
}

const tokens = z.object({ items: z.array(z.object({ data: z.object({ "token-secret": z.string() }) })) });
