import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeName, labelPattern, shortHash } from "../../cloud/names";

describe("composeName", () => {
  test.each([
    [["dev", "workers-1"], 63, "dev-workers-1"],
    [["dev", "workers-1"], 13, "dev-workers-1"],
    [["production-europe", "workers-1"], 20, "production-eu-4624a5"],
    [["production-europe", "workers-2"], 20, "production-eu-a47914"],
    [["abcdefghi--jklmnopq"], 18, "abcdefghi-ed5540"],
  ])("joins %j within %i characters as %s", (parts, limit, expected) => {
    expect(composeName(parts, limit)).toBe(expected);
  });

  test("fits the limit, stays a label and tells different wholes apart", () => {
    const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,28}[a-z0-9])?$/);
    const parts = fc.array(label, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(parts, label, fc.integer({ min: 16, max: 63 }), (some, more, limit) => {
        const name = composeName(some, limit);
        expect(name.length).toBeLessThanOrEqual(limit);
        expect(name).toMatch(labelPattern);
        expect(composeName([...some, more], limit)).not.toBe(name);
      }),
    );
  });
});

test("shortHash is the same for ever, since names of running things hold it", () => {
  expect(shortHash("kubicorn")).toBe("bab5e6");
});
