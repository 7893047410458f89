/**
 * The bench: each number is a ratio to a named baseline that is measured in the same run.
 * `npm run bench` prints a table, `npm run bench -- --json` one JSON line a ratio; exit code 1 when a bound is not kept.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { kubernetesVersions } from "../cloud/spec";
import { kubectlProgram } from "../setup/kubernetes-programs";
import { ensurePulumiCli } from "../setup/pulumi-cli";
import { ClusterProject, linkModules, root } from "./cluster-project";
import { type Command, type Measurement, measure } from "./measure";
import { line, type Ratio, ratio, say } from "./ratio";
import { scalingRatios } from "./scaling";

const rounds = { cluster: 3, engine: 7 };

async function main(json: boolean): Promise<number> {
  const { folder } = await ensurePulumiCli();
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
  const work = mkdtempSync(join(tmpdir(), "kubicorn-bench-"));
  try {
    const ratios = await measureAll(work);
    for (const ratio of ratios) {
      console.log(json ? JSON.stringify(ratio) : line(ratio));
    }
    return ratios.every(({ value, bound }) => bound === undefined || value <= bound) ? 0 : 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function measureAll(work: string): Promise<Ratio[]> {
  const cluster = new ClusterProject(join(work, "cluster"));
  try {
    const ready = await upToReady(cluster);
    return [ready, ...(await engineRatios(work, cluster)), ...(await scalingRatios(cluster))];
  } finally {
    await cluster.kubicorn("down", "--yes");
  }
}

/** From `up` to all nodes Ready, against bare commands on the same image. Leaves the last cluster up. */
async function upToReady(cluster: ClusterProject): Promise<Ratio> {
  const ours: number[] = [];
  const bare: number[] = [];
  const image = await cluster.image();
  const kubectl = (await kubectlProgram(kubernetesVersions[0])) ?? "kubectl";
  for (let round = 0; round < rounds.cluster; round++) {
    say(`up to all nodes Ready, round ${round + 1} of ${rounds.cluster}`);
    bare.push(Number((await execa(join(__dirname, "bare/up.sh"), [image, kubectl])).stdout));
    if (round > 0) {
      await cluster.kubicorn("down", "--yes");
    }
    const began = Date.now();
    await cluster.kubicorn("up", "--yes", "--skip-preview");
    ours.push((Date.now() - began) / 1000);
  }
  return ratio("up to all nodes Ready / bare commands", ours, bare, "s");
}

/** A run in which nothing changes, against a plain program with as many dynamic resources, and against an empty one. */
async function engineRatios(work: string, cluster: ClusterProject): Promise<Ratio[]> {
  const plain = await plainProject(join(work, "plain"), await cluster.dynamicResources());
  const empty = await plainProject(join(work, "empty"), 0);
  const ours = await cluster.pulumi();
  const runs: Record<string, Measurement[]> = {};
  const run = async (name: string, command: Command) => {
    runs[name] = [...(runs[name] ?? []), await measure(command)];
  };
  for (let round = 0; round < rounds.engine; round++) {
    say(`runs in which nothing changes, round ${round + 1} of ${rounds.engine}`);
    for (const [name, project] of Object.entries({ ours, plain, empty })) {
      await run(`${name} up`, project("up", "--yes", "--skip-preview"));
      await run(`${name} preview`, project("preview"));
    }
  }
  const values = (name: string, of: keyof Measurement) => (runs[name] ?? []).map((one) => one[of]);
  const compare = (title: string, command: string, of: keyof Measurement, unit: string) =>
    ["plain", "empty"].map((baseline) =>
      ratio(
        `${title} / ${baseline} program`,
        values(`ours ${command}`, of),
        values(`${baseline} ${command}`, of),
        unit,
      ),
    );
  return [
    ...compare("no-op up", "up", "seconds", "s"),
    ...compare("preview", "preview", "seconds", "s"),
    ...compare("program loaded", "preview", "loadedSeconds", "s"),
    ...compare("program memory", "preview", "programMebibytes", "MiB"),
  ];
}

/** A plain program in a folder of its own, up. */
async function plainProject(folder: string, count: number): Promise<(...args: string[]) => Command> {
  mkdirSync(join(folder, "state"), { recursive: true });
  cpSync(join(__dirname, "plain/index.ts"), join(folder, "index.ts"));
  cpSync(join(root, "tsconfig.json"), join(folder, "tsconfig.json"));
  writeFileSync(join(folder, "package.json"), '{ "name": "plain" }');
  writeFileSync(join(folder, "Pulumi.yaml"), "name: plain\nruntime: nodejs\nmain: index.ts\n");
  linkModules(folder);
  const environment = {
    BENCH_COUNT: String(count),
    PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
  await execa("pulumi", ["stack", "init", "plain"], { cwd: folder, env: environment });
  await execa("pulumi", ["up", "--yes", "--skip-preview", "-s", "plain"], { cwd: folder, env: environment });
  return (...args) => ({ program: "pulumi", args: [...args, "-s", "plain"], cwd: folder, environment });
}

main(process.argv.includes("--json")).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
