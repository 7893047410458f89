/**
 * guest:SshKey: the key pair that we log in to a cluster's machines with. It exists in the stack only.
 * Its identity stands for this instance of the stack wherever a name alone would not do.
 */
import { z } from "zod";
import type { Resource } from "../cloud/resource";
import { identityOf, type KeyPair, makeKeyPair } from "./keys";

const expected = z.strictObject({
  /** The comment at the end of the public key. */
  comment: z.string(),
  /** What cannot change in the cluster's life: its name, and the ranges of its pods and Services. */
  cluster: z.string().optional(),
  pods: z.string().optional(),
  services: z.string().optional(),
});

export type SshKeyExpected = z.output<typeof expected>;

export interface SshKeyActual extends SshKeyExpected, KeyPair {
  /** Six hexadecimal digits out of the public key. */
  readonly identity: string;
}

export const sshKey: Resource<SshKeyExpected, SshKeyActual> = {
  expected,
  fixed: { cluster: "name", pods: "network.pods", services: "network.services" },
  secrets: ["privateKey"],
  actual: async ({ actual }) => actual,
  // A comment is no reason for another key, which no machine would know.
  plan: () => [],
  async apply(wanted, recorded) {
    const keys = recorded?.actual ?? (await makeKeyPair(wanted.comment));
    const identity = identityOf(keys.publicKey);
    const { publicKey, privateKey } = keys;
    return { id: identity, actual: { ...wanted, publicKey, privateKey, identity } };
  },
  delete: async () => undefined,
};
