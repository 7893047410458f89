// A blow that a test has laid: at the step of that number, counted over all verbs that change something, the step fails or
// the engine is killed, before or after the world has changed. It lies beside the world, and strikes once.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const blowFile = (world) => path.join(world, "blow", "next.json");
const countFile = (world) => path.join(world, "blow", "steps");

/** Counts the step, and strikes where it is the one. @returns its number; 0 where no blow was ever laid */
exports.strikeBefore = async function strikeBefore(world) {
  if (!fs.existsSync(path.join(world, "blow"))) {
    return 0;
  }
  const file = countFile(world);
  const step = 1 + Number(fs.existsSync(file) ? fs.readFileSync(file, "utf8") : 0);
  fs.writeFileSync(file, String(step));
  await strike(world, step, "before", "fails");
  await strike(world, step, "before", "killed");
  return step;
};

exports.strikeAfter = (world, step, what) => strike(world, step, "after", what);

async function strike(world, step, when, what) {
  const file = blowFile(world);
  const blow = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : undefined;
  if (blow?.step !== step || blow.when !== when || blow.what !== what) {
    return;
  }
  fs.rmSync(file);
  if (what === "fails") {
    throw new Error(`step ${step} was struck ${when} its work`);
  }
  process.kill(engineOf(process.pid), "SIGKILL");
  // This process ends as soon as it sees that its engine is gone.
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}

/** The process among those that this one descends from that is the engine. */
function engineOf(pid) {
  const [, name, parent] = /\((.*)\) \S (\d+)/.exec(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  return name === "pulumi" ? pid : engineOf(Number(parent));
}
