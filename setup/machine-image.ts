/**
 * The machine image: what every machine on this computer starts from. Made once for a Kubernetes version and a state of
 * images/node, into the engine's own store; each stage is kept, so that an interrupted run goes on where it was.
 */
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { flannelVersion } from "../bootstrap/pod-network";
import { timeLimits } from "../cloud/time-limits";
import type { ContainerEngine, EngineName } from "../providers/local/engine";
import { probeAbilities } from "../providers/local/probe";
import { bindMount } from "../providers/local/seclusion";
import { cached, cacheFolder } from "./cache";
import { findContainerEngine } from "./container-engine";
import { ensureDebianImage } from "./debian-image";
import { hasImage, inContainer } from "./engine-images";
import { takeLock } from "./file-lock";
import { noteUse, removeUnwanted } from "./image-use";
import { ensureKubernetesPrograms, type KubernetesPrograms } from "./kubernetes-programs";
import { packageRoot } from "./package-root";
import { recipeHash } from "./recipe-hash";
import type { Step } from "./step";

export interface MachineImage {
  /** The image as the engine knows it: `localhost/kubicorn-machine:1.37.2-0a1b2c3d`. */
  readonly reference: string;
  readonly engine: EngineName;
}

export const machineImageRepository = "localhost/kubicorn-machine";
const flannelImage = `ghcr.io/flannel-io/flannel:v${flannelVersion}`;
/** A tiny web server to try clusters with. */
export const helloImage = "localhost/kubicorn-hello:1";

/** Finds the image, or makes it on the first run. */
export async function ensureMachineImage(
  { kubernetesVersion }: { readonly kubernetesVersion: string },
  step: Step,
): Promise<MachineImage> {
  const engine = await findContainerEngine(step.signal);
  const reference = await machineImageReference(kubernetesVersion);
  if (await hasImage(engine, reference)) {
    await noteUse(engine, reference);
    return { reference, engine: engine.name };
  }
  const lock = await takeLock(join(cacheFolder(), `machine-image-${engine.name}.lock`), step);
  try {
    // Whoever held the lock before may have made it meanwhile.
    if (!(await hasImage(engine, reference))) {
      await make(engine, { kubernetesVersion, reference }, step);
    }
    await noteUse(engine, reference);
    await removeUnwanted(engine, reference);
    return { reference, engine: engine.name };
  } finally {
    await lock.release();
  }
}

/** The reference that an image of that version has, made from images/node as it is now. */
export async function machineImageReference(kubernetesVersion: string): Promise<string> {
  const recipe = ["build", "packages.txt", "programs", "rootfs"].map((name) => join(sources(), name));
  return `${machineImageRepository}:${kubernetesVersion}-${await recipeHash(recipe, [kubernetesVersion, flannelImage])}`;
}

function sources(): string {
  return join(packageRoot(), "images", "node");
}

async function make(
  engine: ContainerEngine,
  { kubernetesVersion, reference }: { kubernetesVersion: string; reference: string },
  step: Step,
): Promise<void> {
  const [debian, programs] = await bothOrNone([
    ensureDebianImage(engine, step),
    programsFolder(engine, kubernetesVersion, step),
  ]);
  step.say("putting the machine together");
  await inContainer(engine, await probeAbilities(engine, debian), {
    image: debian,
    create: [
      ...["--network", "none", "--entrypoint", "", "--stop-signal", "SIGRTMIN+3"],
      ...bindMount(sources(), "/image"),
      ...bindMount(programs, "/programs"),
      // Only a volume with a name leaves no trace in the image.
      ...["--volume", `${scratchVolume(reference)}:/scratch`],
    ],
    command: ["sh", "/image/build/assemble.sh", "/programs", kubernetesVersion, flannelImage, helloImage],
    operation: "putting the machine together",
    result: reference,
    changes: [
      ...['ENTRYPOINT ["/sbin/init"]', "CMD []", "ENV container=oci", "WORKDIR /"],
      // Of docker, the image inherits it from the container.
      ...(engine.name === "podman" ? ["STOPSIGNAL SIGRTMIN+3"] : []),
    ],
    step,
  }).finally(() => removeVolume(engine, scratchVolume(reference)));
}

/** One folder with everything that assemble.sh takes. */
async function programsFolder(engine: ContainerEngine, version: string, step: Step): Promise<string> {
  const programs = await ensureKubernetesPrograms(version, step);
  const hash = await recipeHash([], [programs.folder, programs.addons ?? ""]);
  return cached(`machine-programs-${version}-${hash}`, step, async (folder) => {
    const { execa } = await import("execa");
    // Hard links where the file system has them: none of it is stored twice.
    const from = [programs.folder, ...(programs.addons ? [programs.addons] : [])].map((path) => `${path}/.`);
    await execa("cp", ["-a", "--link", ...from, folder], { cancelSignal: step.signal });
    if (!programs.addons) {
      await pullContainerImages(engine, programs, folder, version, step);
    }
  });
}

/** The container images that a cluster begins with, as archives. */
async function pullContainerImages(
  engine: ContainerEngine,
  programs: KubernetesPrograms,
  folder: string,
  version: string,
  step: Step,
): Promise<void> {
  const { execa } = await import("execa");
  const list = ["config", "images", "list", "--kubernetes-version", `v${version}`];
  const { stdout } = await execa(join(programs.folder, "kubeadm"), list, { cancelSignal: step.signal });
  const images = [...stdout.split("\n").filter((line) => line.includes("/")), flannelImage];
  const call = { seconds: timeLimits.imageStage, signal: step.signal };
  const aside = join(folder, "images-partial");
  await mkdir(aside);
  for (const [index, image] of images.entries()) {
    step.say(`pulling ${image} (${index + 1} of ${images.length})`);
    await engine.run(`pulling ${image}`, ["pull", "--quiet", image], call);
    await engine.run(`saving ${image}`, ["save", "--output", join(aside, `${index}.tar`), image], call);
  }
  await rename(aside, join(folder, "images"));
}

function scratchVolume(reference: string): string {
  return `kubicorn-build-${reference.replace(/^.*:/, "")}`;
}

async function removeVolume(engine: ContainerEngine, name: string): Promise<void> {
  await engine.run("removing a volume", ["volume", "rm", "--force", name]).catch(() => undefined);
}

/** Waits for both even where one fails: nothing goes on behind the error. */
async function bothOrNone<A, B>(work: [Promise<A>, Promise<B>]): Promise<[A, B]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
