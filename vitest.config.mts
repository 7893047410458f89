/** How the tests run: test/<layer>/*.test.ts; the runner test/run.cjs picks the layers. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/*/**/*.test.ts"],
    environment: "node",
    testTimeout: 20_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
