// A Pulumi program whose model stands in model.json: { parts: { "0": {...} }, outputs: {...} }, with { $ref: [index, property] }.

const fs = require("node:fs");
const path = require("node:path");
const pulumi = require("@pulumi/pulumi");
const { buildTree, Reference } = require("pulumi-kubicorn");

const model = JSON.parse(fs.readFileSync(path.join(__dirname, "model.json"), "utf8"));
const root = new pulumi.ComponentResource("test:index:Root", "root");
const parts = Object.entries(revive(model.parts)).map(([index, part]) => [
  Number(index),
  { kind: "memory:Thing", library: require.resolve("./resources.cjs"), ...part },
]);
module.exports = buildTree({ resources: () => new Map(parts), outputs: revive(model.outputs ?? {}) }, root, "t");

function revive(value) {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (value.$ref) {
    return new Reference(...value.$ref);
  }
  if (value.$secret) {
    return pulumi.secret(value.$secret);
  }
  if (Array.isArray(value)) {
    return value.map(revive);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]));
}
