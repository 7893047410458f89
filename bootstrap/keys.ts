/**
 * SSH key pairs of the stack: ed25519, made here, so that both ends are known before a machine exists.
 */
import { shortHash } from "../cloud/names";

export interface KeyPair {
  /** One line: `ssh-ed25519 BASE64 comment`. */
  readonly publicKey: string;
  /** OpenSSH PEM, without a passphrase. */
  readonly privateKey: string;
}

export async function makeKeyPair(comment: string): Promise<KeyPair> {
  const { default: ssh2 } = await import("ssh2");
  const pair = ssh2.utils.generateKeyPairSync("ed25519", { comment });
  return { publicKey: pair.public.trim(), privateKey: pair.private };
}

/** Six hexadecimal digits that stand for a public key, whatever its comment. */
export function identityOf(publicKey: string): string {
  return shortHash(publicKey.split(/\s+/).slice(0, 2).join(" "));
}
