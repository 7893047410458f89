/**
 * How the tests run: one project a layer, each with the files test/<layer>/*.test.ts.
 */
import { defineConfig } from "vitest/config";

const second = 1000;

function layer(name: string, options: object) {
  return { test: { name, include: [`test/${name}/**/*.test.ts`], environment: "node", ...options } };
}

export default defineConfig({
  test: {
    projects: [
      layer("unit", { testTimeout: 20 * second }),
      layer("component", { testTimeout: 60 * second, hookTimeout: 60 * second }),
      // The engine layer runs the real Pulumi CLI, several of which at once slow each other down.
      layer("engine", {
        testTimeout: 180 * second,
        hookTimeout: 180 * second,
        globalSetup: "test/pulumi-cli.ts",
        maxWorkers: 2,
      }),
      layer("e2e", {
        testTimeout: 900 * second,
        hookTimeout: 3600 * second,
        globalSetup: "test/pulumi-cli.ts",
        fileParallelism: false,
      }),
    ],
  },
});
