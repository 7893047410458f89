import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../cloud/errors";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { settingsReference, stackFileJsonSchema } from "../../cloud/spec-reference";

function refusal(input: unknown): string {
  try {
    parseClusterSpec(input);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).message;
  }
  throw new Error("the spec was accepted");
}

test("fills in every default", () => {
  expect(parseClusterSpec({ name: "dev", pools: [{ name: "workers" }] })).toEqual({
    name: "dev",
    cloud: "local",
    kubernetesVersion: "1.37.2",
    network: { pods: "10.244.0.0/16", services: "10.96.0.0/16" },
    controlPlane: { count: 1, schedulable: false },
    pools: [{ name: "workers", count: 1, labels: {}, taints: [] }],
  });
});

describe("refuses, with path, value and what is allowed", () => {
  test.each([
    [{}, "name: missing; a name is expected"],
    [{ name: "Dev" }, "name: \"Dev\" is not allowed; lower-case letters, digits and '-'"],
    [{ name: "dev_1" }, 'name: "dev_1" is not allowed; lower-case letters'],
    [{ name: "1dev" }, 'name: "1dev" is not allowed; lower-case letters'],
    [{ name: "dev.eu" }, 'name: "dev.eu" is not allowed; lower-case letters'],
    [{ name: "d".repeat(31) }, "at most 30 characters are allowed"],
    [{ name: "dev", cloud: "aws" }, 'cloud: "aws" is not allowed; local is allowed'],
    [{ name: "dev", kubernetesVersion: "1.20" }, 'kubernetesVersion: "1.20" is not allowed; one of 1.37.2 is allowed'],
    [{ name: "dev", kubernetesVersion: 1.37 }, "kubernetesVersion: 1.37 is not allowed"],
    [{ name: "dev", controlPlane: { count: 2 } }, "controlPlane.count: 2 is not allowed; 1 is allowed"],
    [
      { name: "dev", controlPlane: { schedulable: "yes" } },
      'controlPlane.schedulable: "yes" is not allowed; true or false',
    ],
    [{ name: "dev", pools: "three" }, 'pools: "three" is not allowed; a list of pools is expected'],
    [
      { name: "dev", pools: [{ name: "a" }, { name: "b", count: -1 }] },
      "pools[1].count: -1 is not allowed; a whole number from 0 to 250",
    ],
    [{ name: "dev", pools: [{ name: "a", count: 1.5 }] }, "pools[0].count: 1.5 is not allowed; a whole number"],
    [{ name: "dev", pools: [{ name: "a", count: "3" }] }, 'pools[0].count: "3" is not allowed; a whole number'],
    [{ name: "dev", pools: [{ name: "control-plane" }] }, "'control-plane' is taken"],
    [
      { name: "dev", pools: [{ name: "a" }, { name: "a" }] },
      'pools[1].name: "a" is not allowed; each pool needs a name of its own, and pools[0] has this one',
    ],
    [
      { name: "dev", pools: [{ name: "a", labels: { "no spaces": "x" } }] },
      'pools[0].labels["no spaces"]: "x" is not allowed; a Kubernetes label key is expected',
    ],
    [{ name: "dev", pools: [{ name: "a", labels: { disk: true } }] }, "quote numbers and booleans"],
    [
      { name: "dev", pools: [{ name: "a", taints: [{ key: "gpu", effect: "Never" }] }] },
      'pools[0].taints[0].effect: "Never" is not allowed; NoSchedule',
    ],
    [{ name: "dev", pools: [{ name: "a", memoryGiB: 0.1 }] }, "pools[0].memoryGiB: 0.1 is not allowed"],
    [{ name: "dev", workers: 3 }, "workers: 3 is not allowed; there is no such setting"],
    [
      { name: "dev", pools: [{ name: "a", size: "big" }] },
      'pools[0].size: "big" is not allowed; there is no such setting',
    ],
    [
      { name: "dev", network: { pods: "10.244.0.1/16" } },
      'network.pods: "10.244.0.1/16" is not allowed; it has host bits set',
    ],
    [
      { name: "dev", network: { services: "10.244.4.0/24" } },
      'network.services: "10.244.4.0/24" is not allowed; it must not overlap with network.pods',
    ],
    [{ name: "dev", network: { services: "10.0.0.0/8" } }, "a range of at most a /12 is allowed"],
    [{ name: "dev", network: { pods: "64.0.0.0/7" } }, "a range of at most a /8 is allowed"],
    [{ name: "dev", network: { machines: "10.0.0.0/8" } }, "it must not overlap with network."],
    [
      { name: "dev", network: { machines: "10.99.0.0/29" } },
      'network.machines: "10.99.0.0/29" is not allowed; 1 machines need at least a /28',
    ],
    [{ name: "dev", network: { pods: "10.244.0.0/24" }, pools: [{ name: "a" }] }, "2 machines need at least a /23"],
  ])("%j", (input, expected) => {
    expect(refusal(input)).toContain(expected);
  });
});

test("tells all violations at once, also those between settings", () => {
  const message = refusal({ name: "Dev", cloud: "mars", pools: [{ name: "a", count: -1 }, { name: "a" }] });
  expect(message).toMatch(
    /has 4 values that are not allowed:\n {2}- name: .*\n {2}- cloud: .*\n {2}- pools\[0\]\.count: .*\n {2}- pools\[1\]\.name: .*\nNothing was changed\.$/,
  );
});

test("anything at all is either refused as an InputError or becomes a whole spec", () => {
  const wild = fc.record(
    {
      name: fc.oneof(fc.constant("dev"), fc.string(), fc.anything()),
      cloud: fc.oneof(fc.constant("local"), fc.anything()),
      network: fc.oneof(fc.record({ pods: fc.string(), machines: fc.anything() }), fc.anything()),
      controlPlane: fc.anything(),
      pools: fc.oneof(fc.array(fc.record({ name: fc.string(), count: fc.anything() })), fc.anything()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(wild, (input) => {
      try {
        expect(parseClusterSpec(input).network.pods).toBeTypeOf("string");
      } catch (error) {
        expect(error).toBeInstanceOf(InputError);
        expect((error as InputError).violations.length).toBeGreaterThan(0);
      }
    }),
  );
});

describe("what is generated from the schema is up to date (npx vitest run --project unit -u writes it anew)", () => {
  test("the JSON Schema of stack files, for editors", async () => {
    const text = `${JSON.stringify(stackFileJsonSchema("pulumi-kubicorn"), undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../docs/stack.schema.json");
  });

  test("the reference page", async () => {
    await expect(settingsReference()).toMatchFileSnapshot("../../docs/configuration.md");
  });
});
