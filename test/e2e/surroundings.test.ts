/**
 * A real cluster, of the smallest kind, in the ugliest surroundings at once: names of folders, a strict umask, a home that
 * cannot be written, dead proxies in every spelling, another locale, few open files. None of it reaches the machine.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { cacheFolder } from "../../setup/cache";
import { ClusterProject } from "./cluster-project";

const command = resolve(__dirname, "../../entry/command.cjs");
const project = new ClusterProject();
const outer = mkdtempSync(join(tmpdir(), "-a 'b\"c$HOME#e%20f;g\nh é "));
const folder = join(outer, "-p 'q\"$(x)#t%2f;\nw é");
const proxy = "http://user:word@127.0.0.1:9";
const proxies = Object.fromEntries(
  ["http_proxy", "https_proxy", "all_proxy", "grpc_proxy", "ftp_proxy"].flatMap((name) => [
    [name, proxy],
    [name.toUpperCase(), proxy],
  ]),
);
const surroundings = {
  ...proxies,
  HOME: "/proc",
  TMPDIR: join(outer, "-tmp"),
  // A link: what is downloaded and built once is there already.
  KUBICORN_CACHE: join(outer, '-cache, "x'),
  LC_ALL: "de_DE.UTF-8",
  TZ: "Asia/Kathmandu",
  NODE_OPTIONS: "--max-old-space-size=1000",
  SSH_AUTH_SOCK: "/nowhere",
  KUBECONFIG: outer,
};

beforeAll(() => {
  project.configure({ cloud: "local", controlPlane: { count: 1, schedulable: true }, pools: [] });
  mkdirSync(surroundings.TMPDIR);
  symlinkSync(cacheFolder(), surroundings.KUBICORN_CACHE);
  renameSync(project.folder, folder);
});

afterAll(async () => {
  await run("down", "--yes", "--skip-preview");
  rmSync(outer, { recursive: true, force: true });
});

function run(...args: string[]) {
  return execa("/bin/sh", ["-c", 'umask 077; ulimit -Sn 256; exec "$@"', "sh", process.execPath, command, ...args], {
    cwd: folder,
    env: surroundings,
    stdin: "ignore",
    reject: false,
  });
}

test("a cluster comes up, and its machine has nothing of it", async () => {
  const up = await run("up", "--yes", "--skip-preview");
  expect(up.exitCode, up.stdout + up.stderr).toBe(0);

  const { stdout } = await run("kubeconfig");
  const { server } = parse(stdout).clusters[0].cluster;
  const listed = await execa("podman", ["ps", "--no-trunc", "--format", "{{.ID}} {{.Ports}}"]);
  const [id = ""] =
    listed.stdout
      .split("\n")
      .find((line) => line.includes(new URL(server).port))
      ?.split(" ") ?? [];
  const { stdout: inspected } = await execa("podman", ["inspect", id]);
  expect(inspected).not.toContain(proxy);
  const inside = 'tr "\\0" "\\n" < /proc/1/environ; systemctl show-environment; cat /proc/$(pidof kubelet)/environ';
  const environment = await execa("podman", ["exec", id, "sh", "-c", inside]);
  expect(environment.stdout).toContain("PATH=");
  expect(environment.stdout).not.toMatch(/proxy|Kathmandu|de_DE|NODE_OPTIONS/i);

  const preview = await run("preview");
  expect(preview.stdout, preview.stderr).toMatch(/\b\d+ unchanged/);
  expect(preview.stdout).not.toMatch(/to (create|update|replace|delete)/);
});
