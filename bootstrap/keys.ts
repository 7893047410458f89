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
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync("ed25519", { comment });
    // ssh2 1.17 drops a leading zero byte, so that one key in three hundred is none.
    const readable = [pair.private, pair.public].every((text) => !(ssh2.utils.parseKey(text) instanceof Error));
    if (readable && publicBytes(pair.public).length === ed25519Length) {
      return { publicKey: pair.public.trim(), privateKey: pair.private };
    }
  }
}

/** The algorithm's name and the key, each with its length before it. */
const ed25519Length = 4 + "ssh-ed25519".length + 4 + 32;

function publicBytes(line: string): Buffer {
  return Buffer.from(line.split(" ")[1] ?? "", "base64");
}

/** Six hexadecimal digits that stand for a public key, whatever its comment. */
export function identityOf(publicKey: string): string {
  return shortHash(publicKey.split(/\s+/).slice(0, 2).join(" "));
}
