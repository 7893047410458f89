/**
 * The verbs that run the AtomicReconciler: what each does, its help, and the code that does it.
 */
import { outputOption, ownVerb, yesOption } from "./verb";

const changeForm =
  "{ stack, outcome, steps [{ step, name, kind, differences }], undone, notUndone [{ name, why }], error }";

export const applyVerb = ownVerb({
  summary: "bring the cluster to what the configuration says, or leave it as it was",
  help: `Looks at what is really there, plans the change, tells what no rollback could bring back, asks, and makes it. A change
that fails or is interrupted is undone: what it made is removed, what it changed is put back, nothing older is touched.
A change that was killed is gone on with; "kubicorn rollback" goes back instead.

As JSON or YAML:
${changeForm};
outcome is "done", "nothing to do", "nothing changed", "rolled back", "partly rolled back", "rollback pending" or
"kept".`,
  equals: "pulumi refresh, then pulumi up; none for the rollback",
  options: {
    ...yesOption,
    policy: {
      value: "POLICY",
      allowed: ["rollback", "keep"],
      says: "whether a failed change is undone or left for the next run (default: rollback)",
    },
    ...outputOption,
  },
  run: async (args, interruption) => (await import("./apply")).apply(args, interruption),
});

export const rollbackVerb = ownVerb({
  summary: "undo a change that was killed, or whose rollback did not come to its end",
  help: `Goes back to before the last change, where that did not come to its end. Where it did, there is nothing to undo.

As JSON or YAML:
${changeForm}.`,
  equals: "none",
  options: { ...yesOption, ...outputOption },
  run: async (args, interruption) => (await import("./rollback")).rollback(args, interruption),
});

export const deleteVerb = ownVerb({
  summary: "remove the cluster and tell what it was not allowed to remove",
  help: `Removes everything in order. Already gone is success, and a removal that was cut off is gone on with. What is protected
or is to be retained stays and is listed; the exit code is 1 then.

As JSON or YAML: { stack, outcome, removed (a number), leftovers [{ name, kind, id }], error };
outcome is "done", "nothing to do", "nothing changed", "leftovers" or "failed".`,
  equals: "pulumi destroy --exclude-protected; with --purge also pulumi stack rm",
  options: {
    ...yesOption,
    purge: { says: "forget the stack as well: its settings of this computer, its history and its backups" },
    ...outputOption,
  },
  run: async (args, interruption) => (await import("./delete")).deleteCluster(args, interruption),
});

export const explainVerb = ownVerb({
  summary: "show side by side what is expected, what is there, and what apply would do",
  help: `Looks at what is really there and at what the configuration says. Changes nothing, not even what is recorded.

As JSON or YAML: { stack, resources [{ name, kind, expected { inputs }, actual { id, exists, inputs, differences },
step, differences }] }; expected or actual is null where there is none, and step is "same" where apply would do nothing.`,
  equals: "pulumi preview --refresh --diff",
  options: {
    "exit-code": { says: "end with 5 where apply would do something" },
    ...outputOption,
  },
  run: async (args, interruption) => (await import("./explain")).explain(args, interruption),
});
