// Loaded into every Node process of a measured run: notes the time at which the Pulumi program's own file is loaded.
"use strict";
const { writeFileSync } = require("node:fs");
const Module = require("node:module");

if (process.argv.some((argument) => argument.includes("cmd/run"))) {
  const load = Module._load;
  Module._load = function (request, parent, ...rest) {
    const loaded = load.call(this, request, parent, ...rest);
    if (/(^|\/)index(\.ts)?$/.test(request) && parent?.filename?.includes("cmd/run")) {
      writeFileSync(process.env.KUBICORN_BENCH_MARK, String(Date.now()));
    }
    return loaded;
  };
}
