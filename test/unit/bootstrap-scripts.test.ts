/**
 * The machine's scripts in a folder of their own instead of a machine's root, with stand-ins for the programs they call:
 * what whoever waits is told, and what happens when a step fails, is cut off, or runs again.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { machineDataFile } from "../../bootstrap/machine-data";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "kubicorn machine "));
  for (const folder of [
    "etc/kubicorn",
    "etc/default",
    "usr/local/lib/kubicorn",
    "run/kubicorn/done",
    "var/log",
    "var/lib/kubicorn",
    "bin",
  ]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  for (const name of readdirSync("bootstrap/scripts").filter((file) => file.endsWith(".sh"))) {
    write(`usr/local/lib/kubicorn/${name}`, insideRoot(readFileSync(join("bootstrap/scripts", name), "utf8")), 0o755);
  }
  const data = { ROLE: "worker", CLUSTER: "demo", MACHINE: "demo-1", KUBERNETES_VERSION: "1.37.2" } as const;
  write(
    "etc/kubicorn/machine.env",
    machineDataFile({ ...data, ENDPOINT_NAME: "api.demo.internal", ENDPOINT_PORT: "6443" }),
  );
  mkdirSync(join(root, "proc/sys/net/ipv4"), { recursive: true });
  write("proc/sys/net/ipv4/ip_forward", "0\n");
  symlinkSync("/proc/uptime", join(root, "proc/uptime"));
  write("etc/hosts", "127.0.0.1 localhost\n");
  write("var/log/kubicorn-bootstrap.log", "an earlier line\n\u001b[0;32mthe last line\u001b[0m\n");
  stub("systemctl", "case $1 in is-active|is-enabled) exit 1 ;; is-failed) exit $CLOUD_INIT_FAILED ;; esac");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The script with every path of a machine moved below the test's folder. */
function insideRoot(script: string): string {
  const quoted = root.replaceAll(" ", "\\ ");
  const moved = script.replace(
    /(?<![\w}"'])\/(etc|usr\/local|var|run|proc)\//g,
    (_path, folder) => `${quoted}/${folder}/`,
  );
  return moved.replace(/"(\/(etc|usr\/local|var|run|proc)\/)/g, `"${root}$1`);
}

function write(path: string, text: string, mode = 0o644): void {
  writeFileSync(join(root, path), text, { mode });
}

function stub(name: string, body: string): void {
  write(`bin/${name}`, `#!/bin/bash\n${body}\n`);
  chmodSync(join(root, "bin", name), 0o755);
}

async function run(command: string, environment: Record<string, string> = {}) {
  const script = `source "${root}/usr/local/lib/kubicorn/lib.sh"; ${command}`;
  const env = { CLOUD_INIT_FAILED: "1", PATH: `${join(root, "bin")}:${process.env.PATH}`, ...environment };
  return await execa("bash", ["-c", script], { env, reject: false });
}

const wait = (milestone: string, seconds = 5, environment = {}) =>
  run(`exec "$library/wait.sh" ${milestone} ${seconds}`, environment);

describe("whoever waits for a machine", () => {
  it("is let go when the milestone is reached, also while waiting", async () => {
    setTimeout(() => write("run/kubicorn/done/prepared", ""), 300);
    expect(await wait("prepared")).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("is told the failed step and the log's end at once, without colours", async () => {
    write("run/kubicorn/status", "failed starting etcd\n");
    const { exitCode, stderr } = await wait("joinable", 60);
    expect(exitCode).toBe(1);
    expect(stderr).toBe("the bootstrap failed at: starting etcd\nan earlier line\nthe last line");
  });

  it("is told of a bootstrap that was ended from outside", async () => {
    write("run/kubicorn/status", "running 999999999 starting etcd\n");
    expect((await wait("joinable", 60)).stderr).toContain("the bootstrap was ended from outside at: starting etcd");
  });

  it("waits while a bootstrap runs, and ends at its limit", async () => {
    write("run/kubicorn/status", `running ${process.pid} starting etcd\n`);
    const { exitCode, stderr } = await wait("joinable", 1);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the bootstrap did not get to "joinable" within 1 s');
  });

  it.each([
    { told: 61, failed: 0, starts: true, what: "that an earlier run was told" },
    { told: 0, failed: 5, starts: false, what: "that its own run was just told" },
    { told: undefined, failed: 5, starts: false, what: "that nobody was told yet" },
    { told: undefined, failed: 61, starts: true, what: "of long ago" },
  ])("starts the bootstrap again after a failure $what: $starts", async ({ told, failed, starts }) => {
    const age = (path: string, seconds: number) => utimesSync(join(root, path), 0, Date.now() / 1000 - seconds);
    stub("systemctl", `[[ $1 == restart ]] && touch "${root}/run/kubicorn/done/joinable-by-restart"; exit 1`);
    write("run/kubicorn/status", "failed starting etcd\n");
    age("run/kubicorn/status", failed);
    if (told !== undefined) {
      write("run/kubicorn/told", "");
      age("run/kubicorn/told", told);
    }
    await wait("joinable", 1);
    expect(existsSync(join(root, "run/kubicorn/done/joinable-by-restart"))).toBe(starts);
  });

  it("is told of a full disk before all that follows from it", async () => {
    write("run/kubicorn/status", "failed starting etcd\n");
    stub("df", "printf 'Avail Use%% Mounted on\\n0 100%% /var/log\\n900 4%% /\\n'");
    expect((await wait("joinable", 60)).stderr).toMatch(
      /^the bootstrap failed at: starting etcd\nthe disk is full: \/var\/log has 0 MiB left \(100% used\); make room there\nan earlier/,
    );
  });

  it("is told of a cloud-init that ended and started nothing", async () => {
    write("var/log/cloud-init-output.log", "ci-info: | 0 | a table |\nUnit file does not exist\n");
    const { stderr } = await wait("joinable", 60, { CLOUD_INIT_FAILED: "0" });
    expect(stderr).toBe("cloud-init ended and did not start the bootstrap\nUnit file does not exist");
  }, 15_000);
});

describe("the clock", () => {
  beforeEach(() => stub("sleep", "exit 0"));
  const compare = (ahead: number) => run(`"$library/clock.sh" ${Math.floor(Date.now() / 1000) - ahead}`);

  it.each([0, 50, -50])("that is %d s ahead, as over a slow network, is right enough", async (ahead) => {
    expect(await compare(ahead)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("that is set right a moment after the boot is waited for", async () => {
    stub("date", `[[ -e "${root}/set" ]] && exec /bin/date "$@"; touch "${root}/set"; echo 1000000`);
    expect(await compare(0)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.each([
    { ahead: 3725, sentence: "1 h 2 min 5 s ahead of" },
    { ahead: -90, sentence: "0 h 1 min 30 s behind" },
  ])(
    "that is $ahead s ahead is refused",
    async ({ ahead, sentence }) => {
      const { exitCode, stderr } = await compare(ahead);
      expect(exitCode).toBe(1);
      const seconds = new RegExp(sentence.replace(/(\d+) s/, (_, count) => `(${count}|${count - 1}|${+count + 1}) s`));
      expect(stderr).toMatch(seconds);
      expect(stderr).toContain("Set the clock that is wrong");
    },
    30_000,
  );
});

describe("a step", () => {
  const status = () => readFileSync(join(root, "run/kubicorn/status"), "utf8").trim();

  it("that fails is recorded with its name and its output", async () => {
    const { exitCode } = await run(
      'log_to_file; begin "first"; begin "second step"; echo "no space left" >&2; false; begin "never"',
    );
    expect(exitCode).toBe(1);
    expect(status()).toBe("failed second step");
    const log = readFileSync(join(root, "var/log/kubicorn-bootstrap.log"), "utf8");
    expect(log).toMatch(/T[\d:]{8}\.\d{3}Z second step\nno space left\n.*failed with exit code 1: second step\n$/);
  });

  it("that fails in a called script keeps that script's name", async () => {
    write(
      "usr/local/lib/kubicorn/inner.sh",
      `source "${root}/usr/local/lib/kubicorn/lib.sh"; log_to_file; begin "inner"; exit 3`,
    );
    await run('log_to_file; begin "outer"; bash "$library/inner.sh"');
    expect(status()).toBe("failed inner");
  });

  it("fails on a variable that is not set and on a broken pipe's first command", async () => {
    expect((await run('log_to_file; begin "one"; echo "$NOT_SET"')).exitCode).not.toBe(0);
    expect(status()).toBe("failed one");
    expect((await run('log_to_file; begin "two"; false | cat')).exitCode).not.toBe(0);
    expect(status()).toBe("failed two");
  });
});

describe("the endpoint's name", () => {
  const hosts = () => readFileSync(join(root, "etc/hosts"), "utf8");

  it("is written once, replaced when the address changes, and leaves other lines alone", async () => {
    await run("write_endpoint 10.99.0.10; write_endpoint 10.99.0.10");
    expect(hosts()).toBe("127.0.0.1 localhost\n10.99.0.10 api.demo.internal\n");
    await run("write_endpoint 10.99.0.11");
    expect(hosts()).toBe("127.0.0.1 localhost\n10.99.0.11 api.demo.internal\n");
    expect(readFileSync(join(root, "etc/kubicorn/endpoint-address"), "utf8")).toBe("10.99.0.11\n");
  });
});

describe("prepare.sh", () => {
  const prepare = () => run('"$library/prepare.sh"');

  beforeEach(() => {
    stub("ip", 'echo "192.0.2.1 via 10.99.0.1 dev eth0 src 10.99.0.12 uid 0"');
    stub("systemd-detect-virt", "exit 0");
    stub("kubeadm", "echo v1.37.2");
    mkdirSync(join(root, "etc/containerd"));
    write("etc/containerd/config.toml", "            SystemdCgroup = false\n");
  });

  it("prepares a worker, twice with the same result", async () => {
    for (const _time of [1, 2]) {
      expect((await prepare()).exitCode).toBe(0);
      expect(readFileSync(join(root, "etc/default/kubelet"), "utf8")).toBe(
        "KUBELET_EXTRA_ARGS='--node-ip=10.99.0.12'\n",
      );
      const patch = readFileSync(join(root, "etc/kubicorn/patches/kubeletconfiguration0+merge.json"), "utf8");
      expect(JSON.parse(patch)).toMatchObject({ cgroupDriver: "cgroupfs", failSwapOn: false });
      expect(existsSync(join(root, "run/kubicorn/done/prepared"))).toBe(true);
    }
    expect(readFileSync(join(root, "etc/hosts"), "utf8")).toBe("127.0.0.1 localhost\n");
    expect(readFileSync(join(root, "proc/sys/net/ipv4/ip_forward"), "utf8")).toBe("1");
  });

  it("takes the cgroup driver from the container runtime", async () => {
    write("etc/containerd/config.toml", "            SystemdCgroup = true\n");
    await prepare();
    const patch = readFileSync(join(root, "etc/kubicorn/patches/kubeletconfiguration0+merge.json"), "utf8");
    expect(JSON.parse(patch)).toMatchObject({ cgroupDriver: "systemd" });
  });

  it("puts the endpoint's name back at a reboot", async () => {
    write("etc/kubicorn/endpoint-address", "10.99.0.10\n");
    await prepare();
    expect(readFileSync(join(root, "etc/hosts"), "utf8")).toContain("10.99.0.10 api.demo.internal");
  });

  it("refuses another version of Kubernetes than the one asked for", async () => {
    stub("kubeadm", "echo v1.36.3");
    expect((await prepare()).exitCode).toBe(1);
    const log = readFileSync(join(root, "var/log/kubicorn-bootstrap.log"), "utf8");
    expect(log).toContain("kubeadm v1.37.2 is needed, but this machine's image has v1.36.3");
  });
});

describe("a kubelet that refuses its settings", () => {
  const journal = [
    'E1201 02:33:05.1 1206 file.go:97] "Unable to read config path"',
    'E1201 02:33:06.4 1261 run.go:72] "command failed" err="unsupported eviction signal moon.available"',
    "kubelet.service: Main process exited, code=exited, status=1/FAILURE",
    "I1201 02:33:07.4 1270 server.go:1] starting",
  ].join("\n");

  it.each([
    ["3", 0, '"command failed" err="unsupported eviction signal moon.available"'],
    ["2", 1, ""],
    ["", 1, ""],
  ])("after %s restarts is known as such (exit code %i), with its complaint", async (restarts, exitCode, complaint) => {
    stub("systemctl", `echo "${restarts}"`);
    write("run/journal", journal);
    stub("journalctl", `cat "${root}/run/journal"`);
    expect(await run("kubelet_keeps_ending")).toMatchObject({ exitCode, stdout: complaint, stderr: "" });
  });
});

describe("a setting that kubelet panics about", () => {
  const panic = [
    'E1201 02:33:05.1 1206 file.go:97] "Unable to read config path"',
    "panic: failed to merge [global] configuration, error: unrecognized feature gate: NoSuchGate",
    "goroutine 1 [running]:",
    "kubelet.service: Main process exited, code=exited, status=2/INVALIDARGUMENT",
  ].join("\n");
  const words = "panic: failed to merge [global] configuration, error: unrecognized feature gate: NoSuchGate";

  it("is told by the panic, and not by the stack that follows it", async () => {
    stub("systemctl", "echo 3");
    write("run/journal", panic);
    stub("journalctl", `cat "${root}/run/journal"`);
    expect((await run("kubelet_keeps_ending")).stdout).toBe(words);
    const script = readFileSync("bootstrap/scripts/sent/update-kubelet.sh", "utf8");
    const [, wordsOfKubelet = ""] = /^(words_of_kubelet\(\) \{\n.*?^\})$/ms.exec(script) ?? [];
    const env = { PATH: `${join(root, "bin")}:${process.env.PATH}` };
    const { stdout } = await execa("bash", ["-s"], { input: `${wordsOfKubelet}\nwords_of_kubelet cursor`, env });
    expect(stdout).toBe(words);
  });
});

describe("new settings of a kubelet", () => {
  const patch = () => readFileSync(join(root, "etc/kubicorn/patches/kubeletconfiguration1+merge.json"), "utf8").trim();
  const configuration = () => readFileSync(join(root, "var/lib/kubelet/config.yaml"), "utf8").trim();
  const update = (settings: string) => {
    const script = insideRoot(readFileSync("bootstrap/scripts/sent/update-kubelet.sh", "utf8"));
    const env = { PATH: `${join(root, "bin")}:${process.env.PATH}` };
    return execa("bash", ["-s", "--", settings], { input: script, env, reject: false });
  };
  const restarts = () => readFileSync(join(root, "run/restarts"), "utf8").split("\n").length - 1;

  beforeEach(() => {
    mkdirSync(join(root, "var/lib/kubelet"));
    write("var/lib/kubelet/config.yaml", "former");
    write("run/restarts", "");
    const at = `"${root}"`;
    stub("kubeadm", `cp ${at}/etc/kubicorn/patches/kubeletconfiguration1+merge.json ${at}/var/lib/kubelet/config.yaml`);
    // It ends with settings that say "bad".
    stub(
      "systemctl",
      `case $1 in restart) echo >>${at}/run/restarts ;; show) grep -c bad ${at}/var/lib/kubelet/config.yaml ;; esac; true`,
    );
    stub("curl", "exit 0");
    stub(
      "journalctl",
      `printf '%s\\n' 'E1 x] y' 'E1201 1 2 run.go:72] "command failed" err="it is bad"' 'Main process exited'`,
    );
  });

  it("are written and taken by a restart; the same again cost none", async () => {
    expect(await update('{"maxPods":5}')).toMatchObject({ exitCode: 0, stderr: "" });
    expect([patch(), configuration(), restarts()]).toEqual(['{"maxPods":5}', '{"maxPods":5}', 1]);
    expect((await update('{"maxPods":5}')).exitCode).toBe(0);
    expect(restarts()).toBe(1);
  }, 20_000);

  it("that it refuses are put back and told in its words", async () => {
    const { exitCode, stderr } = await update('{"bad":1}');
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'kubelet does not run with these settings; it says:\n"command failed" err="it is bad"\nIts former settings are in force again.',
    );
    expect([configuration(), restarts()]).toEqual(["former", 2]);
    expect(existsSync(join(root, "etc/kubicorn/patches/kubeletconfiguration1+merge.json"))).toBe(false);
  }, 20_000);

  it("after an update that was cut off are put back to what was there before that", async () => {
    mkdirSync(join(root, "var/lib/kubicorn/former-kubelet"));
    write("var/lib/kubicorn/former-kubelet/config.yaml", "before that");
    mkdirSync(join(root, "etc/kubicorn/patches"), { recursive: true });
    write("etc/kubicorn/patches/kubeletconfiguration1+merge.json", '{"bad":1}\n');
    expect((await update('{"bad":1}')).exitCode).toBe(1);
    expect(configuration()).toBe("before that");
    expect(existsSync(join(root, "var/lib/kubicorn/former-kubelet"))).toBe(false);
  }, 20_000);

  it("of a machine that has not joined yet wait for its join", async () => {
    rmSync(join(root, "var/lib/kubelet/config.yaml"));
    expect((await update('{"maxPods":5}')).exitCode).toBe(0);
    expect([patch(), restarts()]).toEqual(['{"maxPods":5}', 0]);
  });
});

describe("two joins on one machine", () => {
  it("the newer ends the older, whose token is gone", async () => {
    // The script's own lines about the lock, with real processes.
    const lines = /^lock=[\s\S]*?\nfi\n/m.exec(readFileSync("bootstrap/scripts/join.sh", "utf8"))?.[0] ?? "";
    expect(lines).toContain("flock --nonblock 9");
    const lock = join(root, "run/join.lock");
    const script = lines.replace(/^lock=.*/, `lock='${lock}'`);
    const hold = (then: string) =>
      execa("bash", ["-euc", `${script}\n${then}`], { reject: false, timeout: 15_000, input: "" });
    const begun = join(root, "run/begun");
    const older = hold(`touch '${begun}'; bash -c 'sleep 60; true'`);
    await vi.waitFor(() => expect(existsSync(begun)).toBe(true), 10_000);
    expect(await hold("echo joined")).toMatchObject({ exitCode: 0, stdout: "joined" });
    expect(await older).toMatchObject({ signal: "SIGTERM" });
  });
});
