/**
 * Downloads that are verified before anything uses them, and that go on where an interrupted one ended.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { messageOf, TransientError, UserError } from "../cloud/errors";
import { httpGet } from "./http-get";
import type { Step } from "./step";

/** What the file must be: its SHA-256, or where its publisher lists it (lines "<hash>  <name>"). */
export type Expected = { readonly sha256: string } | { readonly checksumUrl: string };

/**
 * Downloads the url into the file, which is there only when it is whole and verified.
 *
 * @throws TransientError where the server cannot be reached or breaks off; another call goes on from there
 * @throws UserError when what came is not what was published
 */
export async function download(url: string, expected: Expected, file: string, step: Step): Promise<void> {
  const sha256 = "sha256" in expected ? expected.sha256 : await publishedChecksum(url, expected.checksumUrl, step);
  const partial = `${file}.partial`;
  await fetchInto(partial, url, step);
  const found = await checksumOf(partial);
  if (found !== sha256.toLowerCase()) {
    await rm(partial, { force: true });
    throw new UserError(
      `${url} is not what was published: its SHA-256 is ${found}, expected is ${sha256}. ` +
        "Something between this computer and the server changed it, or the download was damaged: try again, " +
        "and if it stays so, look at the proxy in use.",
    );
  }
  await rename(partial, file);
}

async function fetchInto(partial: string, url: string, step: Step): Promise<void> {
  const have = await stat(partial).then(
    ({ size }) => size,
    () => 0,
  );
  const answer = await httpGet(url, have > 0 ? { range: `bytes=${have}-` } : {}, step.signal);
  if (answer.statusCode === 416) {
    answer.resume();
    return;
  }
  const resumed = answer.statusCode === 206;
  const progress = progressOf(basename(url), resumed ? have : 0, Number(answer.headers["content-length"]), step);
  answer.on("data", (chunk: Buffer) => progress(chunk.length));
  try {
    await pipeline(answer, createWriteStream(partial, { flags: resumed ? "a" : "w" }), { signal: step.signal });
  } catch (error) {
    step.signal.throwIfAborted();
    throw asFailure(error, url);
  }
}

function asFailure(error: unknown, url: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC"
    ? new UserError(`the disk is full: ${messageOf(error)}. Make room, or set KUBICORN_CACHE to a folder with more.`)
    : new TransientError(`downloading ${url} broke off: ${messageOf(error)}`);
}

/** Tells of every tenth of the download, or of every 10 MB where its length is not known. */
function progressOf(name: string, start: number, left: number, step: Step): (bytes: number) => void {
  const whole = Number.isFinite(left) ? start + left : undefined;
  const stride = whole === undefined ? 10_000_000 : Math.max(whole / 10, 1_000_000);
  let done = start;
  let next = start + stride;
  return (bytes) => {
    done += bytes;
    if (done >= next) {
      next = done + stride;
      step.progress(`${name}: ${megabytes(done)}${whole === undefined ? "" : ` of ${megabytes(whole)}`} MB`);
    }
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(0);
}

async function publishedChecksum(url: string, checksumUrl: string, step: Step): Promise<string> {
  const answer = await httpGet(checksumUrl, {}, step.signal);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
  }
  const name = basename(new URL(url).pathname);
  for (const line of Buffer.concat(chunks).toString("utf8").split("\n")) {
    const [, hash, listed] = /^([0-9a-fA-F]{64})\s+\*?(\S+)\s*$/.exec(line) ?? [];
    if (hash && listed === name) {
      return hash;
    }
  }
  throw new TransientError(`${checksumUrl} lists no SHA-256 of ${name}`);
}

async function checksumOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
