/**
 * guest:HostKey: a machine's SSH host key. It is made before the machine, injected by its user data and
 * checked at every connection. As the first thing of a slot it also waits for the slot's turn to be replaced.
 */
import { z } from "zod";
import { planByProperty, type Resource } from "../cloud/resource";
import { rollout } from "../cloud/rollout";
import { identityOf, type KeyPair, makeKeyPair } from "./keys";
import { type Former, noPast, succeeded, turnSchema } from "./succession";

const expected = z.strictObject({
  /** The machine's name. */
  machine: z.string().min(1),
  /** Where the machine is replaced by one of another name: the slot's turn. */
  turn: turnSchema.optional(),
});

export type HostKeyExpected = z.output<typeof expected>;

export interface HostKeyActual extends HostKeyExpected, KeyPair {
  /** The machines that the slot has had before. A former version did not record that there were none. */
  readonly former?: Former;
  /** Their keys, by their names: a person may go back to a machine that is still there. */
  readonly formerKeys?: Readonly<Record<string, KeyPair>>;
}

export const hostKey: Resource<HostKeyExpected, HostKeyActual> = {
  expected,
  secrets: ["privateKey", "formerKeys"],
  actual: async ({ actual }) => actual,
  // An update and no replacement: only an update can wait before anything of the slot is made.
  plan: (actual, wanted) => planByProperty({ machine: { update: "followMachine" } }, actual, wanted),
  async apply(wanted, recorded, context) {
    if (!recorded) {
      const pair = await makeKeyPair(wanted.machine);
      return { id: identityOf(pair.publicKey), actual: { ...wanted, ...pair, former: noPast } };
    }
    const { id, actual } = recorded;
    if (actual.machine === wanted.machine) {
      return { id, actual: { ...actual, ...wanted } };
    }
    if (wanted.turn) {
      await rollout.begin(wanted.turn, context);
    }
    return { id, actual: { ...wanted, ...(await nextKeys(actual, wanted.machine)) } };
  },
  delete: async () => undefined,
};

/** The key of the slot's next machine, its former one where it has had one, and the past with it. */
async function nextKeys(
  { machine, publicKey, privateKey, former, formerKeys }: HostKeyActual,
  next: string,
): Promise<Omit<HostKeyActual, keyof HostKeyExpected>> {
  const known: Record<string, KeyPair> = { ...formerKeys, [machine]: { publicKey, privateKey } };
  const past = succeeded(former, machine, next);
  const kept = Object.entries(known).filter(([name]) => past.machines.includes(name));
  return { ...(known[next] ?? (await makeKeyPair(next))), former: past, formerKeys: Object.fromEntries(kept) };
}
