/**
 * What cannot change in a thing's life: finding a change of it, and saying so. Pure.
 */
import type { Violation } from "./errors";
import { canonicalText } from "./json";

type Values = Readonly<Record<string, unknown>>;

/**
 * The inputs that differ from those that the thing was made from, and must not.
 *
 * @param fixed the setting's name for each input that stays, as in `{ pods: "network.pods" }`
 * @param former what the thing was made from; what an earlier version did not record is no difference
 */
export function fixedViolations(
  fixed: Readonly<Record<string, string | undefined>>,
  former: Values,
  wanted: Values,
): Violation[] {
  return Object.entries(fixed).flatMap(([property, setting = property]) => {
    const [was, value] = [former[property], wanted[property]];
    const same = was === undefined || value === undefined || canonicalText(was) === canonicalText(value);
    return same ? [] : [{ path: setting, value, allowed: staysAsItIs(was) }];
  });
}

/** What is allowed of a setting that is fixed, and what to do about it. */
export function staysAsItIs(value: unknown): string {
  return (
    `it stays ${JSON.stringify(value)} for as long as the cluster lives; ` +
    "to have another, remove the cluster and make it anew (npm run down, then npm run up). Nothing was changed"
  );
}
