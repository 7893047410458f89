/**
 * Before a run of the command: what a killed run had begun is put into the state, and told.
 */
import { readState } from "./pending-creates";
import type { PulumiRunner } from "./pulumi";
import type { Stack } from "./stack";

/**
 * Puts what was being made into the state, and says what that was. Only where the backend is a folder.
 *
 * @param what what this run does about it: "goes on with it"
 */
export async function takeUpUnfinished(
  stack: Stack,
  pulumi: PulumiRunner,
  { what, say }: { readonly what: string; readonly say: (line: string) => void },
): Promise<void> {
  if (!(await readState(stack)).includes('"pending_operations"')) {
    return;
  }
  // Few runs need them, and every run would wait for them.
  const [{ parseSnapshot, snapshotText }, { withUnfinished }] = await Promise.all([
    import("../reconciler/snapshot"),
    import("../reconciler/unfinished"),
  ]);
  const exported = parseSnapshot(await pulumi.ask(["stack", "export", "--stack", stack.name]));
  const { taken, names, interrupted } = withUnfinished(exported);
  if (interrupted === 0) {
    return;
  }
  await pulumi.ask(["stack", "import", "--stack", stack.name], snapshotText(taken));
  if (names.length > 0) {
    say(`An interrupted run was making ${names.join(", ")}: this one ${what}.`);
  }
}
