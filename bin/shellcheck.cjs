// Runs shellcheck over every shell script of the repository: those named *.sh, and files that begin with a shell's #! line.
"use strict";
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.dirname(__dirname);
const skipped = new Set(["node_modules", "dist", "coverage", "stacks", ".git", ".pulumi-state"]);

function scriptsIn(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      return skipped.has(entry.name) ? [] : scriptsIn(file);
    }
    return entry.isFile() && isScript(file) ? [path.relative(root, file)] : [];
  });
}

function isScript(file) {
  if (path.extname(file) !== "") {
    return file.endsWith(".sh");
  }
  const handle = fs.openSync(file);
  const start = Buffer.alloc(64);
  fs.readSync(handle, start);
  fs.closeSync(handle);
  return /^#!.*\b(sh|bash|dash)\b/.test(start.toString("latin1"));
}

const scripts = scriptsIn(root);
const { status, error } = spawnSync("shellcheck", ["--external-sources", ...scripts], { cwd: root, stdio: "inherit" });
if (error) {
  console.error(
    "The shell scripts could not be checked: shellcheck is not installed. " +
      "On Debian and Ubuntu: apt-get install shellcheck; on macOS: brew install shellcheck.",
  );
}
process.exitCode = error ? 1 : (status ?? 1);
if (process.exitCode === 0) {
  console.log(`shellcheck: ${scripts.length} scripts are clean`);
}
