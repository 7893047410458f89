/**
 * A stack's AtomicReconciler, over the project's own program, for the verbs that run it.
 */
import { join } from "node:path";
import type { AtomicReconciler, AtomicReconcilerOptions } from "../cloud/atomic-reconciler";
import type { Model } from "../cloud/model";
import type { ClusterArguments } from "../cloud/spec";
import type { StackEngine } from "../cloud/stack-engine";
import { library } from "./library";
import { type Session, say } from "./session";
import { placeOf, shortName } from "./stack";
import { formerSpec, wantedSpec } from "./stack-spec";

export interface OpenReconciler {
  readonly reconciler: AtomicReconciler<ClusterArguments>;
  readonly engine: StackEngine;
  /** The cluster of the last change that succeeded; where there was none, the one that is wanted. */
  readonly known: ClusterArguments;
  readonly wanted: ClusterArguments;
  readonly modelOf: (spec: ClusterArguments) => Model;
}

/** @throws InputError that lists everything in the configuration that is not allowed, before anything is asked of a cloud */
export async function openReconciler(session: Session, options: AtomicReconcilerOptions): Promise<OpenReconciler> {
  const { AtomicReconciler, clusterModel } = library();
  const { stack } = session;
  const wanted = await wantedSpec(session);
  const modelOf = clusterModel({ project: stack.project.name, stack: shortName(stack.name) });
  modelOf(wanted);
  const [engine, former] = await Promise.all([openEngine(session), formerSpec(session)]);
  const known = former !== undefined && isAllowed(former, modelOf) ? former : wanted;
  const reconciler = new AtomicReconciler(known, modelOf, engine, { tell: say, ...options });
  return { reconciler, engine, known, wanted, modelOf };
}

/** Whether it still is: another version of this package may have allowed more. */
function isAllowed(spec: ClusterArguments, modelOf: (spec: ClusterArguments) => Model): boolean {
  try {
    modelOf(spec);
    return true;
  } catch {
    return false;
  }
}

/** The stack's engine alone, for what needs no configuration. What Pulumi prints goes to standard error, as it comes. */
export function openEngine({ stack, environment, cli }: Session): Promise<StackEngine> {
  return library().pulumiEngine({
    ...placeOf(stack),
    workDir: stack.project.folder,
    program: join(cli, "pulumi"),
    environment,
    runsProject: true,
    onOutput: (text) => process.stderr.write(text),
    tell: say,
  });
}
