/**
 * A key of the configuration whose project's name is misspelt is refused: ignored, it would let the defaults remake a cluster.
 */
import { describe, expect, it } from "vitest";
import { parseClusterSpec } from "../../cloud/spec-parse";
import { settingsIn } from "../../components/config";

describe("settingsIn", () => {
  it("gives the settings by name, and structured ones as what they are", () => {
    const config = { "pulumi-kubicorn:cloud": "local", "pulumi-kubicorn:pools": '[{"name":"a"}]' };
    expect(settingsIn(config, "pulumi-kubicorn")).toEqual({ cloud: "local", pools: [{ name: "a" }] });
  });

  it.each(["kubicorn:pools", "pulumi-kubicron:pools", "pulumi_kubicorn:pools", "Pulumi-Kubicorn:pools"])(
    "lets %s be refused, and says what is meant",
    (key) => {
      const spec = { name: "dev", ...settingsIn({ [key]: '[{"name":"a"}]' }, "pulumi-kubicorn") };
      expect(() => parseClusterSpec(spec)).toThrow(
        `- ["${key}"]: [{"name":"a"}] is not allowed; there is no such setting; did you mean pools?`,
      );
    },
  );

  it.each([
    ["kubernetes:context", "acme-kubernetes"],
    ["aws:region", "avs"],
    ["openstack:cloud", "pulumi-kubicorn"],
    ["pulumi:tags", "pulumi-kubicorn"],
  ])("leaves %s of a provider alone in the project %s", (key, project) => {
    expect(settingsIn({ [key]: "x" }, project)).toEqual({});
  });
});
