/** What cannot change in a thing's life. */
import { expect, test } from "vitest";
import { describeViolation } from "../../cloud/errors";
import { fixedViolations } from "../../cloud/fixed";

const fixed = { pods: "network.pods", cluster: "name" };

test.each([
  ["nothing changes", { pods: "10.0.0.0/16", cluster: "a" }, { pods: "10.0.0.0/16", cluster: "a" }],
  ["an earlier version did not record it", {}, { pods: "10.0.0.0/16", cluster: "a" }],
  ["it is not known yet, or left out", { pods: "10.0.0.0/16" }, {}],
  ["another input changes", { other: 1 }, { other: 2 }],
])("is no violation when %s", (_title, former, wanted) => {
  expect(fixedViolations(fixed, former, wanted)).toEqual([]);
});

test("is told by the setting's name, with what stays and what to do", () => {
  const violations = fixedViolations(fixed, { pods: "a", cluster: "dev" }, { pods: "b", cluster: "prod" });
  expect(violations.map(describeViolation)).toEqual([
    'network.pods: "b" is not allowed; it stays "a" for as long as the cluster lives; to have another, remove the ' +
      "cluster and make it anew (npm run down, then npm run up). Nothing was changed",
    expect.stringMatching(/^name: "prod" is not allowed; it stays "dev" /),
  ]);
});
