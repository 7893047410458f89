/** Merging into a kubeconfig that holds other clusters. */

import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { mergeKubeconfig } from "../../bin/kubeconfig-merge";

const one = (name: string, server = "https://127.0.0.1:20001") => `apiVersion: v1
kind: Config
clusters:
  - name: ${name}
    cluster:
      server: ${server}
users:
  - name: ${name}
    user:
      token: of-${name}
contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${name}
current-context: ${name}
`;
const stay = { file: "/config", switch: false };

describe("mergeKubeconfig", () => {
  it("is the cluster's own where there was no file", () => {
    expect(mergeKubeconfig("", one("dev"), stay)).toEqual({ merged: one("dev"), replaced: [], name: "dev" });
  });

  it("adds to what is there and keeps order, comments, unknown fields and the current context", () => {
    const present = one("work")
      .replace("users:", "extensions: [x]\nusers: # mine")
      .replace("  - name: work", "  # old\n  - name: work");
    const { merged, replaced } = mergeKubeconfig(present, one("dev"), stay);
    expect(replaced).toEqual([]);
    expect(merged).toContain("# mine");
    expect(merged).toContain("# old");
    const result = parse(merged);
    expect(result.clusters.map((entry: { name: string }) => entry.name)).toEqual(["work", "dev"]);
    expect(result.users).toHaveLength(2);
    expect(result.contexts).toHaveLength(2);
    expect(result["current-context"]).toBe("work");
    expect(result.extensions).toEqual(["x"]);
  });

  it("replaces this cluster's entries in place and says which", () => {
    const both = mergeKubeconfig(one("dev"), one("other"), stay).merged;
    const { merged, replaced } = mergeKubeconfig(both, one("dev", "https://127.0.0.1:20009"), stay);
    expect(replaced).toEqual(["cluster dev"]);
    const servers = parse(merged).clusters.map((entry: { cluster: { server: string } }) => entry.cluster.server);
    expect(servers).toEqual(["https://127.0.0.1:20009", "https://127.0.0.1:20001"]);
  });

  it("changes nothing the second time", () => {
    const once = mergeKubeconfig(one("work"), one("dev"), stay).merged;
    expect(mergeKubeconfig(once, one("dev"), stay)).toEqual({ merged: once, replaced: [], name: "dev" });
  });

  it("switches the current context only when asked", () => {
    const { merged } = mergeKubeconfig(one("work"), one("dev"), { ...stay, switch: true });
    expect(parse(merged)["current-context"]).toBe("dev");
  });

  it("fills lists that are empty or missing, as kubectl leaves them", () => {
    const empty = "apiVersion: v1\nkind: Config\nclusters: null\ncontexts: []\npreferences: {}\n";
    const result = parse(mergeKubeconfig(empty, one("dev"), stay).merged);
    expect([result.clusters.length, result.contexts.length, result.users.length]).toEqual([1, 1, 1]);
    expect(result["current-context"]).toBeUndefined();
  });

  it.each(["clusters: [", "just text", "- a\n- b\n"])("refuses to touch what is not a kubeconfig: %j", (present) => {
    expect(() => mergeKubeconfig(present, one("dev"), stay)).toThrow(
      /\/config cannot be merged into.*Nothing was changed/s,
    );
  });
});
