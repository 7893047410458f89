// Plain in-memory-like Resources for tests: the world outside is one JSON file a thing, in the folder of MEMORY_WORLD.
// What a thing does while it is made is told by its own inputs, so that a test can interrupt or fail it anywhere.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { z } = require("zod");
const { planByProperty, rollout } = require("pulumi-kubicorn");

const folder = () => process.env.MEMORY_WORLD;
const fileOf = (name) => path.join(folder(), `${name}.json`);
const aliasOf = ({ name, alias }) => alias ?? name;
const log = (line) => fs.appendFileSync(path.join(folder(), "log.txt"), `${line}\n`);
const { strikeBefore, strikeAfter } = require("./blow.cjs");

const thing = {
  expected: z.strictObject({
    name: z.string({ error: "a name is expected" }),
    /** Updated in place. */
    value: z.unknown().optional(),
    /** What it is called in the world; a change of it replaces the thing, both being there for a while. @default name */
    alias: z.string().optional(),
    /** Cannot change while the thing is there. */
    place: z.string().optional(),
    /** A change of it replaces the thing. */
    size: z.number({ error: "a number is expected" }).optional(),
    /** The turn that ends once it is made. */
    endsTurn: z.object({ group: z.string(), slot: z.string() }).optional(),
    /** Milliseconds until it is made. */
    slow: z.number().optional(),
    /** Where the making fails: before anything is there, or after its identity is recorded. */
    fail: z.enum(["before", "after"]).optional(),
    /** A password; the thing's token is derived from it. */
    password: z.string().optional(),
    /** What its surroundings refuse, where it is not there yet. */
    clash: z.string().optional(),
    /** Returned as it is, to try what the engine cannot record. */
    odd: z.string().optional(),
  }),
  secrets: ["token"],
  fixed: { place: "world.place" },
  deleteBeforeReplace: (actual, expected) => aliasOf(actual) === aliasOf(expected),

  async foresee({ clash }, former) {
    if (clash === "unclear") {
      throw new Error("the surroundings cannot be looked at");
    }
    return clash && former === undefined ? [{ path: "clash", value: clash, allowed: `${clash} is in the way` }] : [];
  },

  async actual({ actual }, context) {
    if (process.env.MEMORY_UNREACHABLE) {
      throw new Error("the owner cannot be reached");
    }
    const file = fileOf(aliasOf(actual));
    if (!fs.existsSync(file)) {
      return undefined;
    }
    context.progress("looked at");
    return { ...actual, ...JSON.parse(fs.readFileSync(file, "utf8")) };
  },

  plan: (actual, expected) => [
    ...planByProperty({ value: { update: "changeValue" }, size: { replace: "replaceSize" } }, actual, expected),
    ...(aliasOf(actual) === aliasOf(expected)
      ? []
      : [
          {
            name: "replaceAlias",
            property: "alias",
            action: "replace",
            note: `${aliasOf(actual)} gives way to ${aliasOf(expected)}.`,
          },
        ]),
  ],

  async apply(expected, recorded, context) {
    const { name, value, slow, fail, password, odd } = expected;
    log(`apply ${name} ${recorded ? "update" : "create"}`);
    const step = await strikeBefore(folder());
    if (fail === "before") {
      throw new Error(`${name} cannot be made`);
    }
    const file = fileOf(aliasOf(expected));
    const adopted = fs.existsSync(file);
    const id = adopted ? JSON.parse(fs.readFileSync(file, "utf8")).serial : `${name}-${process.hrtime.bigint()}`;
    fs.writeFileSync(file, JSON.stringify({ serial: id, value }));
    const actual = { ...expected, serial: id, token: password && `token-of-${password}` };
    await strikeAfter(folder(), step, "killed");
    context.made(id, actual);
    await strikeAfter(folder(), step, "fails");
    context.progress(`${adopted ? "adopted" : "made"}, waiting`);
    const end = Date.now() + (slow ?? 0);
    while (Date.now() < end && !context.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (context.signal.aborted) {
      throw new Error(`${name} was interrupted`);
    }
    if (fail === "after") {
      throw new Error(`${name} was made and does not work`);
    }
    log(`applied ${name}`);
    if (expected.endsTurn) {
      rollout.end(expected.endsTurn);
    }
    if (odd === "undefined") {
      actual.nested = { absent: undefined, list: [1] };
    } else if (odd === "function") {
      actual.nested = { call: () => 1 };
    }
    return { id, actual };
  },

  async begun(expected) {
    const file = fileOf(aliasOf(expected));
    return fs.existsSync(file) ? { id: JSON.parse(fs.readFileSync(file, "utf8")).serial, actual: expected } : undefined;
  },

  async delete({ actual }) {
    log(`delete ${actual.name}`);
    const step = await strikeBefore(folder());
    fs.rmSync(fileOf(aliasOf(actual)), { force: true });
    await strikeAfter(folder(), step, "killed");
    await strikeAfter(folder(), step, "fails");
  },
};

exports.resources = { "memory:Thing": () => thing };
