/**
 * The provider code that the engine keeps in its state: constant text that loads this package and delegates.
 * State therefore never holds logic, and an upgrade of the package is in force at once, also for delete.
 */

/**
 * The module that the text defines, as the dynamic provider evaluates it: `handler()` gives the provider.
 * It resolves from the program's folder, since the text itself has no place of its own.
 */
export const shimText = [
  'exports.handler = () => require("module")',
  '  .createRequire(process.cwd() + "/package.json")("pulumi-kubicorn/provider").dynamicHandler;',
].join("\n");

/** Keys of a dynamic resource that are for the binding itself; the engine hides keys that begin with "__". */
export const internalKeys = {
  /** The shim; the name is the engine's. */
  provider: "__provider",
  /** The Resource's kind, as in `local:Machine`. */
  kind: "__kind",
  /** The module that has the kind, where it is not this package. */
  library: "__library",
  /** The URN of the resource's own row, for progress lines. */
  row: "__row",
  /** True on a thing that an interrupted run had begun to make, and of which nothing but its inputs is known. */
  unfinished: "__unfinished",
} as const;

/** The engine's mark for a value that is not known yet. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** True when the value is not known yet, or holds one that is not. */
export function holdsUnknown(value: unknown): boolean {
  if (value === unknownValue) {
    return true;
  }
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

/** The value in the wrapping by which the engine knows a secret. */
export function asSecret(value: unknown): unknown {
  return { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value };
}
