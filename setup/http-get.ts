/**
 * HTTP GET as a stream: quick to give up where there is no internet, follows redirects, honours a proxy in the environment.
 * Whatever keeps the server out of reach is a TransientError, so that the caller can go another way.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { messageOf, TransientError } from "../cloud/errors";

/** How long a connection may take, and how long a connected server may be silent; milliseconds. */
const connectLimit = 5_000;
const silenceLimit = 30_000;

/** The answer with a status below 300, or 416 (nothing left of the wanted range). */
export async function httpGet(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let target = new URL(url);
  for (let hops = 0; hops < 6; hops += 1) {
    const answer = await getOnce(target, headers, signal);
    const status = answer.statusCode ?? 0;
    if (status < 300 || status === 416) {
      return answer;
    }
    answer.destroy();
    if (status >= 400 || !answer.headers.location) {
      throw new TransientError(`${target.href} answered with status ${status}`);
    }
    target = new URL(answer.headers.location, target);
  }
  throw new TransientError(`${url} leads in a circle of redirects`);
}

async function getOnce(target: URL, headers: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
  // A timer of its own: Node 20 may collect a signal of AbortSignal.timeout that only AbortSignal.any refers to.
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), connectLimit);
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    const socket = await throughProxy(target, either);
    return await answerOf(target, { headers, ...(socket && { createConnection: () => socket }) }, either);
  } catch (error) {
    signal.throwIfAborted();
    const why = limit.signal.aborted ? `no answer within ${connectLimit / 1000} s` : messageOf(error);
    throw new TransientError(`${target.origin} cannot be reached: ${why}`);
  } finally {
    clearTimeout(timer);
  }
}

function answerOf(target: URL, options: RequestOptions, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = target.protocol === "https:" ? httpsRequest : httpRequest;
    const call = send(target, options, (answer) => {
      signal.removeEventListener("abort", giveUp);
      answer.setTimeout(silenceLimit, () => answer.destroy(new Error("the server fell silent")));
      resolve(answer);
    });
    const giveUp = () => call.destroy(new Error("given up"));
    signal.addEventListener("abort", giveUp);
    call.on("error", reject);
    call.end();
  });
}

/** A socket to the target through the proxy that the environment names for it, or `undefined` where it names none. */
async function throughProxy(target: URL, signal: AbortSignal): Promise<Socket | undefined> {
  const proxy = proxyFor(target);
  if (!proxy) {
    return undefined;
  }
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  const tunnel = await new Promise<Socket>((resolve, reject) => {
    const call = httpRequest(proxy, {
      method: "CONNECT",
      path: `${target.hostname}:${port}`,
      headers: login(proxy),
      signal,
    });
    call.on("connect", (answer, socket: Socket) =>
      answer.statusCode === 200 ? resolve(socket) : reject(new Error(`the proxy answered with ${answer.statusCode}`)),
    );
    call.on("error", reject);
    call.end();
  });
  return target.protocol === "https:" ? tlsConnect({ socket: tunnel, servername: target.hostname }) : tunnel;
}

/** The proxy that the environment names for this address. */
export function proxyFor(target: URL, environment: NodeJS.ProcessEnv = process.env): URL | undefined {
  const scheme = target.protocol.slice(0, -1);
  const variable = (name: string) => environment[name] || environment[name.toUpperCase()];
  const proxy = variable(`${scheme}_proxy`) ?? variable("all_proxy");
  const direct = (variable("no_proxy") ?? "").split(",").map((entry) => entry.trim().replace(/^\*?\./, ""));
  const bypassed = direct.some(
    (entry) => entry === "*" || (entry !== "" && (target.hostname === entry || target.hostname.endsWith(`.${entry}`))),
  );
  const loopback = /^(localhost|127\.|\[::1\])/.test(target.hostname);
  if (!proxy || bypassed || loopback) {
    return undefined;
  }
  return new URL(proxy.includes("://") ? proxy : `http://${proxy}`);
}

function login(proxy: URL): Record<string, string> {
  if (!proxy.username) {
    return {};
  }
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}
