// What `require("pulumi-kubicorn")` gives a program.
"use strict";
module.exports = require(require("./bundle.cjs").bundle("library"));
