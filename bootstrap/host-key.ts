/**
 * guest:HostKey: a machine's SSH host key. It is made before the machine, injected by its user data and
 * checked at every connection; it ends with the machine.
 */
import { z } from "zod";
import { planByProperty, type Resource } from "../cloud/resource";
import { identityOf, type KeyPair, makeKeyPair } from "./keys";

const expected = z.strictObject({
  /** The machine's name. */
  machine: z.string().min(1),
});

export type HostKeyExpected = z.output<typeof expected>;
export type HostKeyActual = HostKeyExpected & KeyPair;

export const hostKey: Resource<HostKeyExpected, HostKeyActual> = {
  expected,
  secrets: ["privateKey"],
  deleteBeforeReplace: false,
  actual: async ({ actual }) => actual,
  plan: (actual, wanted) => planByProperty({ machine: { replace: "replaceMachine" } }, actual, wanted),
  async apply({ machine }, recorded) {
    const { publicKey, privateKey } = recorded?.actual ?? (await makeKeyPair(machine));
    return { id: identityOf(publicKey), actual: { machine, publicKey, privateKey } };
  },
  delete: async () => undefined,
};
