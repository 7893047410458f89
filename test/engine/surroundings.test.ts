/**
 * The command in surroundings that few have and somebody has: names of folders, homes, locales, proxies, limits, full and
 * read-only disks, output that nobody takes. Each run has several of them at once, since none may matter.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execaSync } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandProject } from "./command-project";

const up = ["up", "--yes", "--skip-preview"];

/** Names, sizes, permissions and contents of all files below the folder, as one hash. */
function fingerprint(folder: string): string {
  const hash = createHash("sha256");
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    hash.update(`${file} ${statSync(file).mode}\n`).update(entry.isFile() ? readFileSync(file) : "");
  }
  return hash.digest("hex");
}

describe("any character in the names of home, project, cache and temporary folder", () => {
  const project = new CommandProject(["-a 'b\"c$HOME#e%20f;g\nh\\i?j&k*[l] é日", "-p 'q\"$(x)#t%2fu;v\nw é"]);
  const own = (name: string) => join(project.root, name);
  const environment = {
    HOME: own("-home"),
    PULUMI_HOME: undefined,
    TMPDIR: own("-tmp"),
    KUBICORN_CACHE: own("-cache"),
  };
  const run = (...args: string[]) => project.run(args, environment);

  beforeAll(() => {
    for (const folder of ["-home", "-tmp", "-home/.kube", "-home/.ssh"]) {
      mkdirSync(own(folder));
    }
    writeFileSync(own("-home/.kube/config"), "apiVersion: v1\nclusters: []\n", { mode: 0o640 });
    writeFileSync(own("-home/.ssh/config"), "Host *\n  ProxyCommand false\n", { mode: 0o600 });
    // As the person sees it who has a link to it.
    symlinkSync(project.folder, own("-link"));
  });

  afterAll(() => project.remove());

  test("changes nothing for any verb, and none writes to the person's kubeconfig or ~/.ssh", async () => {
    const before = [fingerprint(own("-home/.kube")), fingerprint(own("-home/.ssh"))];
    const made = await run(...up);
    expect(made.exitCode, made.stderr).toBe(0);
    for (const verb of ["refresh", "preview"]) {
      const { exitCode, stdout, stderr } = await run(
        verb,
        "--cwd",
        own("-link"),
        ...(verb === "refresh" ? ["--yes"] : []),
      );
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toMatch(/3 unchanged/);
    }
    expect(await run("kubeconfig", "--output=-config")).toMatchObject({ exitCode: 0 });
    expect(project.read("-config")).toContain("apiVersion: v1");
    const exports = await run("env");
    const plain = execaSync("sh", ["-c", `${exports.stdout}\npulumi stack output -s local`], {
      cwd: project.folder,
      env: { ...project.environment, ...environment },
    });
    expect(plain.stdout).toContain("kubeconfig");
    const gone = await run("down", "--yes", "--skip-preview");
    expect(gone.exitCode, gone.stderr).toBe(0);
    expect([fingerprint(own("-home/.kube")), fingerprint(own("-home/.ssh"))]).toEqual(before);
    expect(readdirSync(own("-tmp"))).toEqual([]);
  });
});

describe("a cluster that is there", () => {
  const project = new CommandProject();
  const proxyNames = ["http_proxy", "https_proxy", "all_proxy", "grpc_proxy", "ftp_proxy"];
  const proxies = Object.fromEntries(
    proxyNames.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, "http://user:word@127.0.0.1:9"]),
  );

  beforeAll(async () => {
    const { exitCode, stderr } = await project.run(up, {}, 'umask 000; exec "$@"');
    expect(exitCode, stderr).toBe(0);
    mkdirSync(join(project.root, "folder"));
    writeFileSync(join(project.root, "file"), "");
  });

  afterAll(() => project.remove());

  test("was made with umask 000, and nobody else can read its secrets or change what is run", () => {
    expect(statSync(project.path(".pulumi-state")).mode & 0o777).toBe(0o700);
    expect(statSync(project.path(".pulumi-state/passphrase")).mode & 0o777).toBe(0o600);
    for (const folder of [project.path(".pulumi-state"), project.path("stacks"), join(project.root, "cache")]) {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        expect(statSync(file).mode & 0o002, file).toBe(0);
      }
    }
  });

  test.each([
    [
      "HOME unset",
      { HOME: undefined, TMPDIR: "relative", LC_ALL: "de_DE.UTF-8", TZ: "Nowhere/At_All" },
      'ulimit -n 256; exec "$@"',
    ],
    [
      "HOME not there",
      { HOME: "/dev/null/home", TMPDIR: "/no/such", LC_ALL: "ja_JP", FORCE_COLOR: "3", CI: "true" },
      'exec "$@" <&-',
    ],
    [
      "HOME read-only",
      { HOME: "/proc", TMPDIR: "/proc/x", LC_ALL: "C", NO_COLOR: "1", TZ: "" },
      'umask 077; exec "$@"',
    ],
    [
      "HOME a file",
      { HOME: "FILE", TMPDIR: "FILE", LC_ALL: "POSIX", KUBECONFIG: "", NODE_OPTIONS: "--max-old-space-size=500" },
    ],
    [
      "a dead proxy in every spelling",
      { ...proxies, NO_PROXY: "x.example", KUBECONFIG: "FOLDER", SSH_AUTH_SOCK: "/x" },
    ],
    [
      "the person's own Pulumi",
      { PULUMI_STACK: "organization/tiny/local", PULUMI_HOME: "FOLDER/h", PULUMI_CONFIG_PASSPHRASE_FILE: "" },
    ],
  ])("%s: preview sees no difference", async (_name, given, shell?: string) => {
    const environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        value?.replace("FILE", join(project.root, "file")).replace("FOLDER", join(project.root, "folder")),
      ]),
    );
    const own = "HOME" in environment ? { PULUMI_HOME: undefined } : {};
    const { exitCode, stdout, stderr } = await project.run(["preview"], { ...own, ...environment }, shell);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/3 unchanged/);
  });

  test("a kubeconfig that the disk has no room for, and a KUBECONFIG that is a folder, end with exit code 1", async () => {
    const full = await project.run(["kubeconfig"], {}, 'exec "$@" >/dev/full');
    expect(full).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^Standard output cannot be written: .*full/),
    });
    const help = await project.run(["--help"], {}, 'exec "$@" >/dev/full');
    expect(help).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^Standard output cannot be written/) });
    const folder = await project.run(["kubeconfig", "--merge"], { KUBECONFIG: `:${project.root}/folder:/other` });
    expect(folder).toMatchObject({
      exitCode: 1,
      stderr: `${project.root}/folder cannot be written: it is a folder. Name a file.`,
    });
  });

  test("output that nobody reads to its end ends the run, and the next one goes on", async () => {
    const cut = await project.run([...up, "--refresh"], {}, '{ "$@"; echo "ended with $?" >&2; } | head -1');
    expect(cut.stdout).toBe("Updating (local):");
    expect(cut.stderr).toContain("Whoever read the output has ended, and Pulumi with it.");
    expect(cut.stderr).toContain("ended with 141");
    const again = await project.up();
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.stdout).toMatch(/3 unchanged/);
  });

  test("a state and a lock that were cut short by a full disk are not trusted", async () => {
    const lock = ".pulumi-state/.pulumi/locks/organization/tiny/local/a.json";
    project.write(
      ".pulumi-state/.pulumi/stacks/tiny/local.json",
      project.read(".pulumi-state/.pulumi/stacks/tiny/local.json").slice(0, 400),
    );
    project.write(lock, '{"pid": 1');
    const { exitCode, stdout, stderr } = await project.up();
    expect(exitCode, stdout + stderr).toBe(0);
    expect(stderr).toMatch(/The state of the stack local was cut short; the copy of .* is in its place\./);
    expect(stdout).toMatch(/3 unchanged/);
    expect(existsSync(project.path(lock))).toBe(false);
  });
});

describe.runIf(process.platform === "linux" && process.getuid?.() === 0)("a disk of its own", () => {
  const project = new CommandProject();
  const mount = (...options: string[]) => execaSync("mount", [...options, project.folder], { reject: false });

  test("too small, then large enough, then read-only", async (context) => {
    const aside = join(project.root, "aside");
    execaSync("cp", ["-a", project.folder, aside]);
    if (mount("-t", "tmpfs", "-o", "size=12m", "none").failed) {
      project.remove();
      return context.skip("no file system can be mounted here");
    }
    try {
      execaSync("cp", ["-a", `${aside}/.`, project.folder]);
      const full = await project.run(up);
      expect(full).toMatchObject({ exitCode: 1, stdout: "" });
      expect(full.stderr).toMatch(/^The disk of .* is full: \d+ MB are left.*Nothing was changed\.$/);
      expect(existsSync(project.path(".pulumi-state"))).toBe(false);
      mount("-o", "remount,size=64m");
      expect((await project.run(up)).exitCode).toBe(0);
      mount("-o", "remount,ro");
      expect((await project.run(["preview"])).stdout).toMatch(/3 unchanged/);
      const refused = await project.run(up);
      expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
      expect(refused.stderr).toBe(
        `${project.path(".pulumi-state")} cannot be written: its file system is read-only. Work in a copy of the folder that can be written.`,
      );
    } finally {
      execaSync("umount", [project.folder]);
      project.remove();
    }
  });
});
