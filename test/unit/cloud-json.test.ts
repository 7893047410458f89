import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalText, toPlainJson } from "../../cloud/json";

test("keeps plain JSON as it is and drops what is undefined", () => {
  const value = { a: [1, "x", null, { b: true, gone: undefined }], gone: undefined };
  expect(toPlainJson(value)).toStrictEqual({ a: [1, "x", null, { b: true }] });
});

test.each([
  [{ when: new Date(0) }, "value.when cannot be recorded: it is a Date"],
  [{ bytes: Buffer.from("x") }, "value.bytes cannot be recorded: it is a Buffer"],
  [{ list: [() => 1] }, "value.list[0] cannot be recorded: it is function"],
  [{ big: 2 ** 60 }, "value.big cannot be recorded: it is number"],
  [{ big: 1n }, "value.big cannot be recorded: it is bigint"],
  [{ none: Number.NaN }, "value.none cannot be recorded: it is number NaN"],
  [{ map: new Map() }, "value.map cannot be recorded: it is a Map"],
  [[undefined], "value[0] cannot be recorded: it is undefined"],
])("refuses what JSON cannot hold (%#)", (value, message) => {
  expect(() => toPlainJson(value)).toThrow(message);
});

test("canonicalText is equal for equal values and only for them", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const reordered = JSON.parse(JSON.stringify(value), (_key, item) =>
        typeof item === "object" && item !== null && !Array.isArray(item)
          ? Object.fromEntries(Object.entries(item).reverse())
          : item,
      );
      expect(canonicalText(reordered)).toBe(canonicalText(value));
    }),
  );
  expect(canonicalText({ a: 1 })).not.toBe(canonicalText({ a: "1" }));
});
