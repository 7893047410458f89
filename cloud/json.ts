/**
 * Plain JSON, the only form in which values travel to the engine and into its state.
 * `undefined`, functions or Buffers in a result make the engine lose the resource.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The value as plain JSON; keys whose value is `undefined` go, anything JSON cannot hold is refused. */
export function toPlainJson(value: unknown, path = "value"): Json {
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return value;
  }
  if (typeof value === "number" && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => toPlainJson(item, `${path}[${index}]`));
  }
  if (isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, toPlainJson(item, `${path}.${key}`)]),
    );
  }
  throw new TypeError(`${path} cannot be recorded: it is ${describe(value)}, and only plain JSON can be`);
}

/** The value as text that is equal for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isPlainObject(item) ? Object.fromEntries(Object.entries(item).sort(byKey)) : item,
  );
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function describe(value: unknown): string {
  return typeof value === "object" && value !== null
    ? `a ${value.constructor.name}`
    : `${typeof value} ${String(value)}`;
}
