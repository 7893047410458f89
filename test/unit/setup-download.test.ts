/** Downloads: verified, resumed, and quick to give up. All against a server on loopback. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TransientError, UserError } from "../../cloud/errors";
import { download } from "../../setup/download";
import { proxyFor } from "../../setup/http-get";
import type { Step } from "../../setup/step";

const body = Buffer.alloc(3_000_000, "kubicorn ");
const sha256 = createHash("sha256").update(body).digest("hex");

let folder: string;
let file: string;
let server: Server;
let base: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let lines: string[];
let step: Step;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "kubicorn-download-"));
  file = join(folder, "thing.tar.gz");
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  lines = [];
  step = {
    say: (line) => lines.push(line),
    progress: (line) => lines.push(line),
    signal: new AbortController().signal,
  };
});

afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe("download", () => {
  it("leaves the verified file and says how far it is", async () => {
    answer = (_request, response) => response.setHeader("content-length", body.length).end(body);
    await download(`${base}/thing.tar.gz`, { sha256 }, file, step);
    expect(readFileSync(file).equals(body)).toBe(true);
    expect(lines[0]).toMatch(/^thing\.tar\.gz: 1 of 3 MB$/);
  });

  it("finds its checksum by name in the published list, and follows redirects", async () => {
    answer = (request, response) => {
      if (request.url === "/list") {
        response.end(`${"0".repeat(64)}  other.tar.gz\n${sha256}  thing.tar.gz\n`);
      } else if (request.url === "/thing.tar.gz") {
        response.writeHead(302, { location: "/elsewhere" }).end();
      } else {
        response.end(body);
      }
    };
    await download(`${base}/thing.tar.gz`, { checksumUrl: `${base}/list` }, file, step);
    expect(statSync(file).size).toBe(body.length);
  });

  it("refuses what is not what was published, and keeps nothing of it", async () => {
    answer = (_request, response) => response.end("something else");
    const refused = download(`${base}/thing.tar.gz`, { sha256 }, file, step);
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(/is not what was published: its SHA-256 is/);
    expect(existsSync(file) || existsSync(`${file}.partial`)).toBe(false);
  });

  it("goes on where a broken download ended", async () => {
    answer = (_request, response) => {
      response.setHeader("content-length", body.length).write(body.subarray(0, 1_000_000), () => response.destroy());
    };
    await expect(download(`${base}/thing.tar.gz`, { sha256 }, file, step)).rejects.toThrow(TransientError);
    const have = statSync(`${file}.partial`).size;
    expect(have).toBeGreaterThan(0);
    answer = (request, response) => {
      expect(request.headers.range).toBe(`bytes=${have}-`);
      response.writeHead(206).end(body.subarray(have));
    };
    await download(`${base}/thing.tar.gz`, { sha256 }, file, step);
    expect(readFileSync(file).equals(body)).toBe(true);
  });

  it("begins anew where the server cannot go on, and accepts what is whole already", async () => {
    writeFileSync(`${file}.partial`, "old");
    answer = (_request, response) => response.end(body);
    await download(`${base}/thing.tar.gz`, { sha256 }, file, step);
    writeFileSync(`${file}.partial`, body);
    answer = (_request, response) => response.writeHead(416).end();
    await download(`${base}/thing.tar.gz`, { sha256 }, file, step);
    expect(readFileSync(file).equals(body)).toBe(true);
  });

  it("tells an absent server, a missing file and an interruption apart from a bad download", async () => {
    answer = (_request, response) => response.writeHead(404).end();
    await expect(download(`${base}/thing.tar.gz`, { sha256 }, file, step)).rejects.toThrow(/answered with status 404/);
    const refused = download("http://127.0.0.1:1/x", { sha256 }, file, step);
    await expect(refused).rejects.toThrow(TransientError);
    const interruption = new AbortController();
    answer = () => interruption.abort(new Error("interrupted"));
    const silent = download(`${base}/x`, { sha256 }, file, { ...step, signal: interruption.signal });
    await expect(silent).rejects.toThrow("interrupted");
  });

  it("goes through the proxy of the environment", async () => {
    const asked: string[] = [];
    answer = (_request, response) => response.end(body);
    server.on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      const upstream = connect((server.address() as AddressInfo).port, "127.0.0.1");
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    vi.stubEnv("http_proxy", base);
    vi.stubEnv("no_proxy", "");
    await download("http://releases.invalid/thing.tar.gz", { sha256 }, file, step);
    expect(asked).toEqual(["releases.invalid:80"]);
  });
});

describe("proxyFor", () => {
  it.each([
    ["https://get.example.com/x", { HTTPS_PROXY: "http://proxy:3128" }, "http://proxy:3128/"],
    ["https://get.example.com/x", { https_proxy: "proxy:3128" }, "http://proxy:3128/"],
    ["https://get.example.com/x", { HTTP_PROXY: "http://proxy:3128" }, undefined],
    ["https://get.example.com/x", { https_proxy: "http://proxy", no_proxy: "other, .example.com" }, undefined],
    ["https://example.com/x", { https_proxy: "http://proxy", no_proxy: "le.com" }, "http://proxy/"],
    ["http://127.0.0.1:8/x", { http_proxy: "http://proxy" }, undefined],
  ])("%s with %j goes through %s", (url, environment, proxy) => {
    expect(proxyFor(new URL(url), environment)?.href).toBe(proxy);
  });
});
