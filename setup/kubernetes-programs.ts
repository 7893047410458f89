/**
 * The Kubernetes programs at one version: the official ones where they can be downloaded, else built from their modules.
 * Either way they are made once; a kubectl for this computer comes out of it.
 */
import { chmod, mkdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { flannelVersion } from "../bootstrap/pod-network";
import { messageOf, TransientError } from "../cloud/errors";
import { cached, cachedAlready, cacheFolder } from "./cache";
import { download } from "./download";
import { goBuild } from "./go-build";
import { httpGet } from "./http-get";
import { packageRoot } from "./package-root";
import { recipeHash } from "./recipe-hash";
import type { Step } from "./step";

export interface KubernetesPrograms {
  /** The folder with kubeadm, kubelet and kubectl. */
  readonly folder: string;
  /** The folder with what runs on a cluster beside them; absent where container images are pulled instead. */
  readonly addons?: string;
}

const programs = ["kubeadm", "kubelet", "kubectl"];
const addons = ["coredns", "flanneld", "hello", "pause"];

/**
 * Finds the programs, or makes them on the first run.
 *
 * @param downloads where Kubernetes publishes them. @default its own server
 */
export async function ensureKubernetesPrograms(
  version: string,
  step: Step,
  downloads = "https://dl.k8s.io",
): Promise<KubernetesPrograms> {
  const known = await programsInCache(version);
  if (known) {
    return known;
  }
  try {
    return { folder: await official(version, downloads, step) };
  } catch (error) {
    if (!(error instanceof TransientError)) {
      throw error;
    }
    step.say(`${messageOf(error)}; building Kubernetes from its modules instead, which takes about 6 minutes`);
    return { folder: await builtKubernetes(version, step), addons: await builtAddons(step) };
  }
}

/** The kubectl of that version in the cache, if the programs have been made. */
export async function kubectlProgram(version: string): Promise<string | undefined> {
  const known = await programsInCache(version);
  return known && join(known.folder, "kubectl");
}

async function programsInCache(version: string): Promise<KubernetesPrograms | undefined> {
  const downloaded = cachedAlready(officialKey(version));
  if (downloaded) {
    return { folder: downloaded };
  }
  const [folder, addonsFolder] = [cachedAlready(await builtKey(version)), cachedAlready(await addonsKey())];
  return folder && addonsFolder ? { folder, addons: addonsFolder } : undefined;
}

function official(version: string, downloads: string, step: Step): Promise<string> {
  return cached(officialKey(version), step, async (folder) => {
    const from = `${downloads}/v${version}/bin/linux/${architecture()}`;
    const aside = join(cacheFolder(), "downloads", `kubernetes-${version}`);
    await mkdir(aside, { recursive: true });
    for (const program of programs) {
      const sha256 = (await textOf(`${from}/${program}.sha256`, step)).trim();
      // What an interrupted run has of it stays there, and the next one goes on with it.
      await download(`${from}/${program}`, { sha256 }, join(aside, program), step);
      await chmod(join(aside, program), 0o755);
      await rename(join(aside, program), join(folder, program));
    }
  });
}

/** Every program of Kubernetes, and etcd, in one file; it is the program whose name it is called by. */
async function builtKubernetes(version: string, step: Step): Promise<string> {
  return cached(await builtKey(version), step, async (folder) => {
    const minor = version.split(".")[1] ?? "";
    const of = "k8s.io/component-base/version";
    await goBuild(
      {
        module: join(sources(), "kubernetes"),
        package: ".",
        output: join(folder, "kubernetes"),
        variables: {
          [`${of}.gitVersion`]: `v${version}`,
          [`${of}.gitMajor`]: "1",
          [`${of}.gitMinor`]: minor,
          [`${of}.gitTreeState`]: "clean",
          "k8s.io/client-go/pkg/version.gitVersion": `v${version}`,
        },
      },
      step,
    );
    await Promise.all(programs.map((program) => symlink("kubernetes", join(folder, program))));
  });
}

async function builtAddons(step: Step): Promise<string> {
  return cached(await addonsKey(), step, async (folder) => {
    for (const name of addons) {
      const variables = { "github.com/flannel-io/flannel/pkg/version.Version": `v${flannelVersion}` };
      const output = join(folder, name);
      await goBuild({ module: join(sources(), "addons"), package: `./${name}`, output, variables }, step);
    }
  });
}

function officialKey(version: string): string {
  return `kubernetes-${version}-official`;
}

async function builtKey(version: string): Promise<string> {
  return `kubernetes-${version}-built-${await recipeHash([join(sources(), "kubernetes")])}`;
}

async function addonsKey(): Promise<string> {
  return `kubernetes-addons-${await recipeHash([join(sources(), "addons")], [flannelVersion])}`;
}

function sources(): string {
  return join(packageRoot(), "images", "node", "programs");
}

function architecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}

async function textOf(url: string, step: Step): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await httpGet(url, {}, step.signal)) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}
