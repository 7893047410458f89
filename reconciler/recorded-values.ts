/**
 * Values as a state holds them, with their marks, as values of a program.
 */
import { asset, type Resource, secret } from "@pulumi/pulumi";
import { isPlainObject } from "../cloud/json";

/** The key by which a state marks a value that is more than JSON, and the marks; they are those of Pulumi's own protocol. */
const markKey = "4dabf18193072939515e22adb298388d";
const marks = {
  secret: "1b47061264138c4ac30d75fd1eb44270",
  asset: "c44067f5952c0a294b673a41bacd8c17",
  archive: "0def7320c3a5731c473e5ecbe6d01bc7",
  resource: "5cf8f73096256a8f31e491e813e4eb8e",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
};

type Properties = Readonly<Record<string, unknown>>;

/**
 * @param value as `pulumi stack export --show-secrets` gives it
 * @param resourceOf the program's resource with that URN
 * @throws Error for a secret that is still encrypted
 */
export function programValue(value: unknown, resourceOf: (urn: string) => Resource | undefined): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => programValue(item, resourceOf));
  }
  if (!isPlainObject(value)) {
    return value;
  }
  if (!(markKey in value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, programValue(item, resourceOf)]));
  }
  return marked(value, resourceOf);
}

function marked(value: Properties, resourceOf: (urn: string) => Resource | undefined): unknown {
  switch (value[markKey]) {
    case marks.secret:
      if (typeof value.plaintext !== "string") {
        throw new Error("a recorded secret cannot be read");
      }
      return secret(programValue(JSON.parse(value.plaintext), resourceOf));
    case marks.asset:
      return assetOf(value);
    case marks.archive:
      return archiveOf(value, resourceOf);
    case marks.resource:
      return resourceOf(String(value.urn));
    case marks.output:
      return value.secret ? secret(programValue(value.value, resourceOf)) : programValue(value.value, resourceOf);
    default:
      throw new Error(`a recorded value has a mark that this version does not know: ${String(value[markKey])}`);
  }
}

function assetOf({ text, path, uri }: Properties): unknown {
  if (typeof path === "string") {
    return new asset.FileAsset(path);
  }
  return typeof uri === "string" ? new asset.RemoteAsset(uri) : new asset.StringAsset(String(text ?? ""));
}

function archiveOf({ assets, path, uri }: Properties, resourceOf: (urn: string) => Resource | undefined): unknown {
  if (typeof path === "string") {
    return new asset.FileArchive(path);
  }
  return typeof uri === "string"
    ? new asset.RemoteArchive(uri)
    : new asset.AssetArchive(programValue(assets ?? {}, resourceOf) as asset.AssetMap);
}
