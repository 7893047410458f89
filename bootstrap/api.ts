/**
 * Calls to a cluster's Kubernetes API: each with a time limit, each failure told in one sentence.
 * The client library is loaded when first needed, since it takes half a second and 70 MB.
 */
import { createHash } from "node:crypto";
import { Agent, get } from "node:https";
import type { CoreV1Api, PolicyV1Api } from "@kubernetes/client-node";
import { z } from "zod";
import { DeadlineError, messageOf, RemoteError, TransientError } from "../cloud/errors";
import type { Context } from "../cloud/resource";
import { waitUntil } from "../cloud/retry";
import { timeLimits } from "../cloud/time-limits";

type Library = typeof import("@kubernetes/client-node");

/** What the API answered a call with, where that was not success. */
export class ApiAnswer extends RemoteError {
  constructor(
    operation: string,
    host: string,
    detail: string,
    /** The HTTP status. */
    readonly status: number,
    /** The causes that the answer's Status object names. */
    readonly causes: readonly string[],
  ) {
    super(operation, host, `the API answered ${status}: ${detail}`);
  }
}

const statusSchema = z.object({
  message: z.string().optional(),
  details: z.object({ causes: z.array(z.object({ message: z.string().optional() })).optional() }).optional(),
});

const known = new Map<string, Promise<ClusterApi>>();
let loading: Promise<Library> | undefined;

/** Begins to load the client library, for whoever will need it after a wait. */
export function preloadApi(): void {
  loading ??= import("@kubernetes/client-node");
}

/**
 * Makes a call again while the API is out of reach, for as long as one call may take.
 * Only for calls that may be made twice.
 */
export async function retried<T>(context: Context, call: () => Promise<T>): Promise<T> {
  const wait = { description: "the Kubernetes API to answer", seconds: timeLimits.apiCall, signal: context.signal };
  return await waitUntil(wait, async () => ({ found: await call() }));
}

/** The API that the kubeconfig names. Connections are shared by all who have the same kubeconfig. */
export async function clusterApi(kubeconfig: string): Promise<ClusterApi> {
  const key = createHash("sha256").update(kubeconfig).digest("hex");
  let api = known.get(key);
  if (!api) {
    preloadApi();
    api = (loading as Promise<Library>).then((library) => new ClusterApi(library, kubeconfig));
    known.set(key, api);
  }
  return await api;
}

export class ClusterApi {
  readonly core: CoreV1Api;
  readonly policy: PolicyV1Api;
  /** Options of a patch call that merges lists by their keys, as kubectl does. */
  readonly strategicMerge: ReturnType<Library["setHeaderOptions"]>;
  private readonly server: string;
  private readonly agent: Agent;

  constructor(library: Library, kubeconfig: string) {
    const config = new library.KubeConfig();
    config.loadFromString(kubeconfig);
    const cluster = config.getCurrentCluster();
    const user = config.getCurrentUser();
    if (!cluster || !user) {
      throw new Error("the recorded kubeconfig names no cluster and user");
    }
    this.server = new URL(cluster.server).host;
    const decoded = (data: string | undefined) => (data ? Buffer.from(data, "base64") : undefined);
    this.agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: true,
      ca: decoded(cluster.caData),
      cert: decoded(user.certData),
      key: decoded(user.keyData),
    });
    const configuration = library.createConfiguration({
      baseServer: new library.ServerConfiguration(cluster.server, {}),
      authMethods: { default: config },
      promiseMiddleware: [
        {
          pre: async (request) => {
            request.setAgent(this.agent);
            request.setSignal(AbortSignal.timeout(timeLimits.apiCall * 1000));
            return request;
          },
          post: async (response) => response,
        },
      ],
    });
    this.core = new library.CoreV1Api(configuration);
    this.policy = new library.PolicyV1Api(configuration);
    this.strategicMerge = library.setHeaderOptions("Content-Type", library.PatchStrategy.StrategicMergePatch);
  }

  /**
   * One call.
   *
   * @param operation what is being done, as in "reading node demo-1"
   * @throws ApiAnswer for an answer that is a refusal, TransientError when there was none or the API was busy
   */
  async call<T>(operation: string, context: Context, make: () => Promise<T>): Promise<T> {
    return await untilInterrupted(operation, context.signal, make()).catch((error: unknown) => {
      throw this.explained(operation, error);
    });
  }

  /** As `call`, but `undefined` where the API answers that there is no such thing. */
  async callIfFound<T>(operation: string, context: Context, make: () => Promise<T>): Promise<T | undefined> {
    return await this.call(operation, context, make).catch((error: unknown) => {
      if (error instanceof ApiAnswer && error.status === 404) {
        return undefined;
      }
      throw error;
    });
  }

  /** Whether the API server reaches the node's kubelet. True also where the API does not tell, so that only silence counts. */
  async kubeletAnswers(name: string, context: Context): Promise<boolean> {
    try {
      await this.call(`asking the kubelet of node ${name}`, context, () =>
        this.core.connectGetNodeProxyWithPath({ name, path: "healthz" }),
      );
      return true;
    } catch (error) {
      if (error instanceof TransientError) {
        return !/error trying to reach service|nothing came back/.test(error.message);
      }
      if (error instanceof ApiAnswer) {
        return true;
      }
      throw error;
    }
  }

  /** Whether the API server calls itself ready, with all that it needs. */
  async isReady(): Promise<boolean> {
    return await new Promise((resolve) => {
      const limit = { signal: AbortSignal.timeout(timeLimits.apiCall * 1000) };
      get(`https://${this.server}/readyz`, { agent: this.agent, ...limit }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      }).on("error", () => resolve(false));
    });
  }

  private explained(operation: string, error: unknown): unknown {
    const status = httpStatusOf(error);
    if (status !== undefined) {
      const { message, causes, isStatus } = statusObject(error);
      // 429 with a Status object is an answer about a budget, and its caller's matter; without one the API is busy.
      return status >= 500 || (status === 429 && !isStatus)
        ? new TransientError(`the API at ${this.server} could not serve: ${status} ${message}`)
        : new ApiAnswer(operation, this.server, message, status, causes);
    }
    if (error instanceof DeadlineError) {
      return error;
    }
    const timedOut = error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
    const reason = timedOut ? `nothing came back within ${timeLimits.apiCall} s` : messageOf(error);
    if (/certificate|self.signed|unable to verify|altname/i.test(reason)) {
      return new OtherClusterError(operation, this.server, `it is not the API of this cluster: ${reason}`);
    }
    return new TransientError(`the API at ${this.server} does not answer: ${reason}`);
  }
}

/** Another cluster answers where this one did: it has another CA. */
export class OtherClusterError extends RemoteError {}

async function untilInterrupted<T>(operation: string, signal: AbortSignal, made: Promise<T>): Promise<T> {
  return await new Promise((resolve, reject) => {
    const interrupt = () => reject(new DeadlineError(`${operation} was interrupted: ${messageOf(signal.reason)}`));
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) {
      interrupt();
    }
    made.then(resolve, reject).finally(() => signal.removeEventListener("abort", interrupt));
  });
}

function httpStatusOf(error: unknown): number | undefined {
  const code = error instanceof Error && "body" in error && "code" in error ? error.code : undefined;
  return typeof code === "number" ? code : undefined;
}

/** The message and causes of the Status object that the API answers refusals with. */
function statusObject(error: unknown): { message: string; causes: string[]; isStatus: boolean } {
  const raw = error instanceof Error && "body" in error ? error.body : undefined;
  const status = statusSchema.safeParse(typeof raw === "string" ? parsed(raw) : raw);
  return {
    message: status.data?.message || String(raw).trim().slice(0, 200),
    causes: (status.data?.details?.causes ?? []).flatMap(({ message }) => message ?? []),
    isStatus: status.success,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
