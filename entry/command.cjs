#!/usr/bin/env node
// The `kubicorn` command; every npm script is one of its verbs.
"use strict";
require(require("./bundle.cjs").bundle("command"));
