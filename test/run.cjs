// Runs the named layers of tests (unit, component, engine, reconciler, e2e, faults) and closes with one line: N passed, N failed.
// Arguments that follow the layers go to vitest, as in: node test/run.cjs unit -t "a part of a test's name"
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const layers = fs.readdirSync(__dirname).filter((name) => /^(unit|component|engine|reconciler|e2e|faults)$/.test(name));

function main(given) {
  const end = given.findIndex((argument) => !layers.includes(argument));
  const chosen = end < 0 ? given : given.slice(0, end);
  if (chosen.length === 0) {
    console.error(`Name at least one layer of tests: ${layers.join(", ")}.`);
    process.exit(2);
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kubicorn-tests-"));
  const report = path.join(folder, "report.json");
  const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const projects = chosen.flatMap((layer) => ["--project", layer]);
  const child = spawn(process.execPath, [vitest, "run", ...projects, ...reporters, ...given.slice(chosen.length)], {
    cwd: path.dirname(__dirname),
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    // A terminal sends Ctrl-C to both; the tests end in good order, and this process after them.
    process.on(signal, () => signal === "SIGTERM" && child.kill(signal));
  }
  child.on("close", (code) => {
    process.exitCode = tell(report, code ?? 1);
    fs.rmSync(folder, { recursive: true, force: true });
  });
}

/** Prints the closing line; files that could not be loaded and errors outside tests count as failed. */
function tell(report, code) {
  const counts = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, "utf8")) : {};
  const { numPassedTests: passed = 0, numFailedTests = 0, numPendingTests: skipped = 0, testResults = [] } = counts;
  const unloaded = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  const failed = numFailedTests + unloaded || (code === 0 ? 0 : 1);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed > 0 ? code || 1 : code;
}

main(process.argv.slice(2));
