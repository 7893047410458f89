/**
 * The Pulumi CLI: the person's own if it is new enough, else one in our cache, downloaded or built.
 * On every run after the first this costs a few looks at files and starts no process.
 */
import { chmod, copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, TransientError } from "../cloud/errors";
import { cached, cachedAlready, cacheFolder, cachePlace } from "./cache";
import { goBuild } from "./go-build";
import { packageRoot } from "./package-root";
import { pulumiOnPath } from "./pulumi-on-path";
import { type Step, withStep } from "./step";

export interface PulumiCli {
  /** The folder that goes first on PATH: it holds pulumi, its Node.js language host and the dynamic provider. */
  readonly folder: string;
  /** Whether it was built here: such a one cannot download provider plugins where there is no internet. */
  readonly built: boolean;
}

export interface PulumiCliOptions {
  /** Ends the set-up early. */
  readonly signal?: AbortSignal;
  /** Where releases are downloaded from. @default Pulumi's own server */
  readonly releases?: string;
}

const version = "3.274.1";
/** The newest Node.js language host that the Go module proxy serves; it works with the CLI above. */
const languageHostVersion = "3.68.0";
const downloadedKey = `pulumi-${version}`;
/** The number at the end counts changes of what stands beside the CLI. */
const builtKey = `pulumi-${version}-built-1`;
const versionVariable = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

/** Finds the CLI, or makes it on the first run. */
export async function ensurePulumiCli(options: PulumiCliOptions = {}): Promise<PulumiCli> {
  // A cache that cannot be written is told now, whether it is needed this time or not.
  cacheFolder();
  return (await findPulumiCli()) ?? (await withStep("Pulumi CLI", make, options));

  async function make(step: Step): Promise<PulumiCli> {
    try {
      return {
        folder: await downloaded(options.releases ?? "https://get.pulumi.com/releases/sdk", step),
        built: false,
      };
    } catch (error) {
      if (!(error instanceof TransientError)) {
        throw error;
      }
      step.say(`${messageOf(error)}; building it from its sources instead, which takes about 5 minutes`);
      return { folder: await built(step), built: true };
    }
  }
}

/** The CLI that would be used now, if there is one: nothing is made. */
export async function findPulumiCli(): Promise<PulumiCli | undefined> {
  return (await pulumiOnPath(cachePlace())) ?? fromCache();
}

function fromCache(): PulumiCli | undefined {
  const folder = cachedAlready(downloadedKey);
  if (folder) {
    return { folder, built: false };
  }
  const ownBuild = cachedAlready(builtKey);
  return ownBuild ? { folder: ownBuild, built: true } : undefined;
}

/** The official release, verified by the checksums published with it. */
async function downloaded(releases: string, step: Step): Promise<string> {
  const name = `pulumi-v${version}-${platformName()}.tar.gz`;
  return cached(downloadedKey, step, async (folder) => {
    const [{ execa }, { download }] = await Promise.all([import("execa"), import("./download")]);
    const downloads = join(cacheFolder(), "downloads");
    const archive = join(downloads, name);
    await mkdir(downloads, { recursive: true });
    await download(
      `${releases}/${name}`,
      { checksumUrl: `${releases}/pulumi-${version}-checksums.txt` },
      archive,
      step,
    );
    await execa("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"], { cancelSignal: step.signal });
    await execa(join(folder, "pulumi"), ["version"], { cancelSignal: step.signal });
    await rm(archive);
  });
}

/** As in the names of Pulumi's releases: "linux-x64", "darwin-arm64". */
function platformName(): string {
  const supported = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
  const name = `${process.platform}-${process.arch}`;
  if (!supported.includes(name)) {
    throw new TransientError(`there is no release of the Pulumi CLI for ${name}`);
  }
  return name;
}

async function built(step: Step): Promise<string> {
  return cached(builtKey, step, async (folder) => {
    const sources = join(packageRoot(), "setup");
    const program = (name: string, mainPackage: string, ofVersion: string) =>
      goBuild(
        {
          module: join(sources, name),
          package: mainPackage,
          output: join(folder, name.replace("pulumi-cli", "pulumi")),
          variables: { [versionVariable]: `v${ofVersion}` },
        },
        step,
      );
    await program("pulumi-cli", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", version);
    step.say("building its Node.js language host");
    const languageHost = "pulumi-language-nodejs";
    await program(languageHost, `github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/${languageHost}`, languageHostVersion);
    const provider = "pulumi-resource-pulumi-nodejs";
    await copyFile(join(sources, "pulumi-cli", provider), join(folder, provider));
    await chmod(join(folder, provider), 0o755);
  });
}
