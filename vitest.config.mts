/**
 * How the tests run: one project a layer, each with the files test/<layer>/*.test.ts.
 */
import { defineConfig } from "vitest/config";

const second = 1000;

/** The layers run one after the other, the quick ones first. */
function layer(name: string, groupOrder: number, options: object) {
  const include = [`test/${name}/**/*.test.ts`];
  return { test: { name, include, environment: "node", sequence: { groupOrder }, ...options } };
}

export default defineConfig({
  test: {
    projects: [
      layer("unit", 0, { testTimeout: 20 * second }),
      layer("component", 1, { testTimeout: 60 * second, hookTimeout: 60 * second }),
      // The engine layer runs the real Pulumi CLI, several of which at once slow each other down.
      layer("engine", 2, {
        testTimeout: 180 * second,
        hookTimeout: 180 * second,
        globalSetup: "test/pulumi-cli.ts",
        maxWorkers: 2,
      }),
      layer("reconciler", 3, {
        testTimeout: 300 * second,
        hookTimeout: 180 * second,
        globalSetup: "test/pulumi-cli.ts",
        maxWorkers: 2,
      }),
      layer("e2e", 4, {
        testTimeout: 900 * second,
        hookTimeout: 3600 * second,
        globalSetup: ["test/pulumi-cli.ts", "test/container-engine.ts"],
        fileParallelism: false,
      }),
      layer("faults", 5, {
        hookTimeout: 3600 * second,
        globalSetup: ["test/pulumi-cli.ts", "test/container-engine.ts"],
        fileParallelism: false,
      }),
    ],
  },
});
