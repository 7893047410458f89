// Loaded into every Node process of a measured run: writes down each call of the container engine and of the Kubernetes API.
"use strict";
const { appendFileSync } = require("node:fs");
const childProcess = require("node:child_process");
const https = require("node:https");
const { basename } = require("node:path");

const note = (call) => appendFileSync(process.env.KUBICORN_BENCH_CALLS, `${call}\n`);

const spawn = childProcess.spawn;
childProcess.spawn = function (file, args, ...rest) {
  if (/^(podman|docker)$/.test(basename(file))) {
    note(`${basename(file)} ${Array.isArray(args) ? args.join(" ").replaceAll("\n", " ") : ""}`);
  }
  return spawn.call(this, file, args, ...rest);
};

const request = https.request;
https.request = function (...given) {
  const made = request.apply(this, given);
  note(`${made.method} ${made.path}`);
  return made;
};
