import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { namedKubeconfig } from "../../bootstrap/kubeconfig";
import { yamlText } from "../../cloud/yaml";

const tricky = [
  ...["yes", "no", "on", "off", "y", "n", "Yes", "NO", "true", "null", "~", "", " ", "1", "01", "0x1f", "0o17", "0b1"],
  ...[
    "1e3",
    "1_000",
    "1:30",
    "-1",
    "+1",
    ".5",
    "-.5",
    ".",
    "-",
    "+",
    "-.",
    "...",
    ".inf",
    ".NaN",
    "2026-12-01",
    "=",
    "<<",
    "- x",
    "a: b",
    "#x",
    "%x",
  ],
];

describe("a text that some reader of YAML takes for something else", () => {
  test.each(tricky)("%j stays that text, as a value and as a key", (text) => {
    const written = yamlText({ value: text, list: [text], keys: { [text]: "x" } });
    for (const version of ["1.1", "1.2"] as const) {
      expect(parse(written, { version })).toEqual({ value: text, list: [text], keys: { [text]: "x" } });
    }
    if (/^[-+.]*[0-9]|^[a-z~]/i.test(text)) {
      expect(written).toContain(`value: "${text}"`);
    }
  });
});

test("any plain text comes back from YAML of both versions", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 12 }), (text) => {
      for (const version of ["1.1", "1.2"] as const) {
        expect(parse(yamlText([text]), { version })).toEqual([text]);
      }
    }),
    { numRuns: 1000 },
  );
});

test("a cluster may be called no", () => {
  const adminConf = yamlText({
    clusters: [{ cluster: { "certificate-authority-data": "Q0E=" } }],
    users: [{ user: { "client-certificate-data": "Q0U=", "client-key-data": "S0U=" } }],
  });
  const named = namedKubeconfig(adminConf, "no", "https://127.0.0.1:1");
  expect(parse(named, { version: "1.1" })).toMatchObject({
    "current-context": "no",
    contexts: [{ name: "no", context: { cluster: "no", user: "no" } }],
  });
});
