/**
 * `delete`: removes the cluster, tells what it was not allowed to remove, and forgets the stack where that is asked for.
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../cloud/errors";
import type { ResourceRepresentation } from "../cloud/reconciler";
import { recordedThings } from "../cloud/representation";
import type { StackEngine } from "../cloud/stack-engine";
import { mendLeftovers, requirePlaceForState } from "./before-run";
import { consent, requireConsent } from "./consent";
import { exitCodes } from "./exit-codes";
import type { Interruption } from "./interruption";
import { leftInKubeconfigs } from "./kubeconfig-files";
import { library } from "./library";
import { printAs } from "./output";
import { thingsText } from "./plan-text";
import { openEngine } from "./reconciler-session";
import { locateStack, openSession, type Session, say } from "./session";
import { profileFile, shortName, stackExists, stackFile } from "./stack";
import type { OwnArguments } from "./verb";

export interface DeleteArguments extends Omit<OwnArguments, "options"> {
  readonly options: { readonly purge: boolean; readonly output: string | undefined };
}

export async function deleteCluster(args: DeleteArguments, interruption: Interruption): Promise<number> {
  requireConsent(args.yes, "delete");
  const stack = await locateStack(args);
  requirePlaceForState(stack, true);
  const session = await openSession(stack, interruption, interruption.signal);
  const report = reporter(stack.name, args.options.output);
  if (!(await stackExists(stack, session.pulumi))) {
    return report.nothingToDo(`There is no stack ${stack.name}, so there is nothing to remove.`);
  }
  await mendLeftovers(stack, true);
  const engine = await openEngine(session);
  const things = recordedThings((await engine.read()).resources);
  if (things.length > 0) {
    say(`These are removed:\n${thingsText(things)}`);
  }
  const question = `Remove the cluster of the stack ${stack.name}${args.options.purge ? " and forget the stack" : ""}?`;
  if (!(await consent(args.yes, question, interruption.signal))) {
    say("Nothing was changed.");
    return exitCodes.failed;
  }
  return remove(session, { engine, things: things.length, purge: args.options.purge, report, interruption });
}

interface Removal {
  readonly engine: StackEngine;
  /** How many things were there. */
  readonly things: number;
  readonly purge: boolean;
  readonly report: ReturnType<typeof reporter>;
  readonly interruption: Interruption;
}

async function remove(session: Session, { engine, things, purge, report, interruption }: Removal): Promise<number> {
  const { AtomicReconciler, ReconcileError, PartList } = library();
  // A removal goes by what is recorded, and works also where the configuration is no longer allowed.
  const reconciler = new AtomicReconciler(undefined, () => new PartList().toModel({}), engine, { tell: say });
  let leftovers: readonly ResourceRepresentation[];
  try {
    leftovers = await reconciler.destroy({ signal: interruption.signal });
  } catch (error) {
    if (!(error instanceof ReconcileError)) {
      throw error;
    }
    say(messageOf(error));
    await report.failed(error);
    return interruption.exitCode ?? exitCodes.failed;
  }
  if (leftovers.length > 0) {
    return report.leftovers(things, leftovers);
  }
  leftInKubeconfigs(session.stack).forEach(say);
  if (purge) {
    await forgetStack(session);
  }
  return things === 0 && !purge
    ? report.nothingToDo(`Of the stack ${session.stack.name} nothing is there any more.`)
    : report.done(things, purge);
}

/** Removes the stack with its settings of this computer. A committed profile stays. */
async function forgetStack({ stack, pulumi }: Session): Promise<void> {
  const own = stackFile(stack);
  const isProfile = own === profileFile(stack);
  await pulumi.ask(["stack", "rm", "--yes", "--stack", stack.name, ...(isProfile ? ["--preserve-config"] : [])]);
  const name = shortName(stack.name);
  const files = [join(dirname(own), ".applied", `${name}.yaml`), join(dirname(own), ".prepared", name)];
  for (const file of isProfile ? files : [own, ...files]) {
    rmSync(file, { force: true });
  }
}

/** Prints how it ended. @returns of each way, the exit code */
function reporter(stack: string, format: string | undefined) {
  const none = { stack, removed: 0, leftovers: [], error: null };
  const print = (value: Readonly<Record<string, unknown>>, sentence: string) =>
    printAs(format, { value: { ...none, ...value }, table: () => `${sentence}\n` });
  return {
    async nothingToDo(sentence: string): Promise<number> {
      await print({ outcome: "nothing to do" }, sentence);
      return exitCodes.done;
    },
    async done(removed: number, forgotten: boolean): Promise<number> {
      const forgot = forgotten ? `, and the stack ${stack} is forgotten` : "";
      await print(
        { outcome: "done", removed },
        `Removed everything of the stack ${stack} (things: ${removed})${forgot}.`,
      );
      return exitCodes.done;
    },
    async leftovers(things: number, left: readonly ResourceRepresentation[]): Promise<number> {
      const leftovers = left.map(({ name, kind, id = null }) => ({ name, kind, id }));
      const sentence = `These are protected or retained, and so is what they stand on; they were not removed:\n${thingsText(left)}`;
      await print({ outcome: "leftovers", removed: Math.max(0, things - left.length), leftovers }, sentence);
      return exitCodes.failed;
    },
    async failed(error: InstanceType<ReturnType<typeof library>["ReconcileError"]>): Promise<void> {
      if (format === "json" || format === "yaml") {
        const outcome = error.isRolledBack ? "nothing changed" : "failed";
        await print({ outcome, error: messageOf(error.cause) }, "");
      }
    },
  };
}
