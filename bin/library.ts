/**
 * This package as programs get it, for the verbs that render or reconcile. A bundle of its own, loaded only by those: it
 * brings Pulumi's SDK with it.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { packageRoot } from "../setup/package-root";

export type Library = typeof import("../library");

export function library(): Library {
  const root = packageRoot();
  return createRequire(join(root, "package.json"))(join(root, "entry", "library.cjs"));
}
