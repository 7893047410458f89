/**
 * A Kubernetes API over HTTPS, in this process: as much of nodes, pods, evictions, Secrets and ConfigMaps as the guest
 * Resources use. Objects are kept as they are sent; patches merge as kubectl's strategic ones do for what we patch.
 */
import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import { certificate, key } from "./certificate";

// biome-ignore lint/suspicious/noExplicitAny: a double keeps whatever objects a test gives it.
type Thing = any;

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: Thing;
}

export class KubernetesApi {
  readonly calls: Call[] = [];
  readonly nodes = new Map<string, Thing>();
  readonly secrets = new Map<string, Thing>();
  readonly configMaps = new Map<string, Thing>();
  pods: Thing[] = [];
  budgets: Thing[] = [];
  /** Answers an eviction; the default lets the pod go. */
  onEviction: (pod: Thing) => { status: number; body: Thing } | undefined = () => undefined;
  /** When set, every call gets this status. */
  failWith: number | undefined;
  /** So many calls are turned away as a busy API does, without a Status object. */
  busy = 0;
  ready = true;
  /** Nodes whose kubelet the API server does not reach. */
  readonly silent = new Set<string>();
  private server: Server | undefined;
  private lastPort = 0;

  async start(port = 0): Promise<this> {
    this.server = createServer({ cert: certificate, key }, async (request, response) => {
      const body = await bodyOf(request);
      const url = new URL(request.url ?? "/", "https://localhost");
      this.calls.push({ method: request.method ?? "", path: url.pathname, body });
      if (this.busy > 0) {
        this.busy -= 1;
        response.writeHead(429, { "Retry-After": "1" }).end("Too many requests, please try again later.");
        return;
      }
      const answer = this.failWith
        ? status(this.failWith, "the double was told to fail")
        : this.answer(request.method ?? "", url, body);
      response.writeHead(answer.status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => this.server?.listen(port, "127.0.0.1", resolve));
    this.lastPort = (this.server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => (this.server ? this.server.close(() => resolve()) : resolve()));
  }

  get port(): number {
    return this.lastPort;
  }

  /** A kubeconfig for it. */
  get kubeconfig(): string {
    const authority = Buffer.from(certificate).toString("base64");
    return stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "c",
          cluster: { server: `https://127.0.0.1:${this.lastPort}`, "certificate-authority-data": authority },
        },
      ],
      users: [{ name: "u", user: { token: "double" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    });
  }

  addNode(name: string, changes: Thing = {}): Thing {
    const node = {
      metadata: { name, uid: `uid-${name}`, labels: { ...changes.labels } },
      spec: { taints: changes.taints ?? [], unschedulable: changes.unschedulable },
      status: {
        nodeInfo: { kubeletVersion: changes.version ?? "v1.37.2", machineID: changes.machineId ?? `machine-${name}` },
        addresses: [{ type: "InternalIP", address: "10.99.0.11" }],
        conditions: [{ type: "Ready", status: changes.ready ?? "True", message: changes.message ?? "" }],
      },
    };
    this.nodes.set(name, node);
    return node;
  }

  private answer(method: string, { pathname, searchParams }: URL, body: Thing): { status: number; body: Thing } {
    const [group, name, subresource] = partsOf(pathname);
    if (pathname === "/readyz") {
      return this.ready ? { status: 200, body: "ok" } : { status: 500, body: "not ready" };
    }
    if (group === "nodes" && subresource === "proxy") {
      return this.silent.has(name ?? "")
        ? status(503, "error trying to reach service: dial tcp 10.99.0.11:10250: connect: no route to host")
        : { status: 200, body: "ok" };
    }
    if (group === "pods" && subresource === "eviction") {
      return this.evict(name ?? "");
    }
    if (group === "pods") {
      const node = searchParams.get("fieldSelector")?.split("=")[1];
      return { status: 200, body: { items: this.pods.filter((pod) => pod.spec.nodeName === node) } };
    }
    if (group === "poddisruptionbudgets") {
      return { status: 200, body: { items: this.budgets } };
    }
    const store = { nodes: this.nodes, secrets: this.secrets, configmaps: this.configMaps }[group ?? ""];
    return store ? keep(store, method, name, body) : status(404, `no such path: ${pathname}`);
  }

  private evict(name: string): { status: number; body: Thing } {
    const pod = this.pods.find(({ metadata }) => metadata.name === name);
    if (!pod) {
      return status(404, `pods "${name}" not found`);
    }
    const refused = this.onEviction(pod);
    if (refused) {
      return refused;
    }
    this.pods = this.pods.filter((other) => other !== pod);
    return { status: 201, body: {} };
  }
}

export function status(code: number, message: string, causes: string[] = []): { status: number; body: Thing } {
  const details = { causes: causes.map((cause) => ({ message: cause })) };
  return { status: code, body: { kind: "Status", apiVersion: "v1", status: "Failure", message, details, code } };
}

function partsOf(pathname: string): string[] {
  return pathname
    .replace(/^\/(api\/v1|apis\/[^/]+\/[^/]+)\//, "")
    .replace(/^namespaces\/[^/]+\//, "")
    .split("/");
}

function keep(store: Map<string, Thing>, method: string, name: string | undefined, body: Thing) {
  if (method === "POST") {
    const made = body.metadata.name;
    if (store.has(made)) {
      return status(409, `"${made}" already exists`);
    }
    store.set(made, body);
    return { status: 201, body };
  }
  if (name === undefined) {
    return { status: 200, body: { items: [...store.values()] } };
  }
  const found = store.get(name);
  if (!found) {
    return status(404, `"${name}" not found`);
  }
  if (method === "DELETE") {
    store.delete(name);
    return { status: 200, body: found };
  }
  if (method === "PATCH") {
    const { resourceVersion } = body.metadata ?? {};
    if (resourceVersion !== undefined && resourceVersion !== found.metadata.resourceVersion) {
      return status(409, "the object has been modified; please apply your changes to the latest version");
    }
    merge(found, body);
  }
  return { status: 200, body: found };
}

/** Merges objects and takes away what is null; a list takes the place of the former one, as the API does it with taints. */
function merge(target: Thing, patch: Thing): void {
  for (const [field, value] of Object.entries<Thing>(patch)) {
    if (value === null) {
      delete target[field];
    } else if (Array.isArray(value)) {
      target[field] = value;
    } else if (typeof value === "object") {
      target[field] ??= {};
      merge(target[field], value);
    } else {
      target[field] = value;
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Thing> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
  }
  return text ? JSON.parse(text) : undefined;
}
