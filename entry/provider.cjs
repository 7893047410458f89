// What the shim in the engine's state loads: the handler of every dynamic resource (components/dynamic/handler.ts).
"use strict";
const { dynamicHandler, resources } = require(require("./bundle.cjs").bundle("library"));
module.exports = { dynamicHandler, resources };
