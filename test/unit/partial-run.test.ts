/** What tells a run about a part of the stack from one about the whole. */
import { expect, it } from "vitest";
import { isPartialRun } from "../../components/dynamic/partial-run";

it.each([
  ["destroy --target urn:a --target-dependents", true],
  ["destroy --target=urn:a", true],
  ["destroy -t urn:a", true],
  ["destroy -turn:a", true],
  ["destroy --exclude urn:a", true],
  ["destroy --exclude-protected", true],
  ["destroy --stack local --yes --skip-preview", false],
  ["up --stack local", false],
])("pulumi %s: %s", (words, partial) => {
  expect(isPartialRun(["/usr/bin/pulumi", ...words.split(" ")])).toBe(partial);
});
