/** The official Kubernetes programs: verified, kept, and found again without a look at the server. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ensureKubernetesPrograms, kubectlProgram } from "../../setup/kubernetes-programs";

const step = { say: () => undefined, progress: () => undefined, signal: new AbortController().signal };
let cache: string;
let server: Server;
let downloads: string;
let asked: string[];
let damaged: boolean;

beforeEach(async () => {
  cache = mkdtempSync(join(tmpdir(), "kubicorn-programs-"));
  vi.stubEnv("KUBICORN_CACHE", cache);
  asked = [];
  damaged = false;
  server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const content = `program ${url.replace(".sha256", "")}`;
    const hash = createHash("sha256").update(content).digest("hex");
    response.end(url.endsWith(".sha256") ? hash : `${content}${damaged ? "?" : ""}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  downloads = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(cache, { recursive: true, force: true });
});

it("downloads them once, for this computer's kind of processor", async () => {
  expect(await kubectlProgram("1.37.2")).toBeUndefined();
  const { folder, addons } = await ensureKubernetesPrograms("1.37.2", step, downloads);
  expect(addons).toBeUndefined();
  expect(asked.filter((url) => !url.endsWith(".sha256"))).toEqual(
    ["kubeadm", "kubelet", "kubectl"].map((name) =>
      expect.stringMatching(new RegExp(`^/v1\\.37\\.2/bin/linux/(amd64|arm64)/${name}$`)),
    ),
  );
  const kubectl = (await kubectlProgram("1.37.2")) ?? "";
  expect(kubectl).toBe(join(folder, "kubectl"));
  expect(readFileSync(kubectl, "utf8")).toMatch(/^program .*kubectl$/);
  expect(statSync(kubectl).mode & 0o111).toBe(0o111);
  asked = [];
  await ensureKubernetesPrograms("1.37.2", step, downloads);
  expect(asked).toEqual([]);
});

it("refuses what is not what was published, and keeps nothing of it", async () => {
  damaged = true;
  await expect(ensureKubernetesPrograms("1.37.2", step, downloads)).rejects.toThrow(/is not what was published/);
  expect(await kubectlProgram("1.37.2")).toBeUndefined();
});
