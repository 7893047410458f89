/**
 * Pulumi's mocks with a memory: what a program asks the engine for, with parents and edges, which mocks alone do not tell.
 */
import * as pulumi from "@pulumi/pulumi";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";

export interface Registration {
  readonly type: string;
  readonly name: string;
  /** The parent's name. */
  readonly parent: string;
  /** Names of all that it waits for, sorted. */
  readonly waitsFor: readonly string[];
  readonly inputs: Record<string, unknown>;
}

const nameOf = (urn: string) => urn.split("::").at(-1) ?? "";

/** Sets the mocks and gives back what is registered from then on. Outputs of a resource are `<name>.<property>`. */
export async function recordRegistrations(preview = false): Promise<Registration[]> {
  const registrations: Registration[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ name, inputs, type }) => ({
        id: `${name}-id`,
        state: type.startsWith("pulumi-nodejs:") ? withResults(name, inputs) : inputs,
      }),
      call: ({ inputs }) => inputs,
    },
    "project",
    "stack",
    preview,
  );
  const original = MockMonitor.prototype.registerResource;
  MockMonitor.prototype.registerResource = async function (request, callback) {
    const waitsFor = request.getDependenciesList().map(nameOf);
    registrations.push({
      type: request.getType(),
      name: request.getName(),
      parent: nameOf(request.getParent()),
      waitsFor: [...new Set<string>(waitsFor)].sort(),
      inputs: request.getObject().toJavaScript(),
    });
    return original.call(this, request, callback);
  };
  restore = () => {
    MockMonitor.prototype.registerResource = original;
  };
  return registrations;
}

let restore = () => {};
export const stopRecording = () => restore();

/** What the resources of a local cluster give to each other. */
function withResults(name: string, inputs: Record<string, unknown>): Record<string, unknown> {
  const results = [
    "publicKey",
    "privateKey",
    "identity",
    "reference",
    "engine",
    "name",
    "subnet",
    "sshHost",
    "sshPort",
  ];
  const more = ["apiPort", "address", "caCertificate", "caHash", "kubeconfig"];
  return { ...Object.fromEntries([...results, ...more].map((key) => [key, `${name}.${key}`])), ...inputs };
}
