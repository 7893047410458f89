/**
 * Keeps traffic inside a bridge out of this computer's packet filter, which would put the gateway's address in place of
 * a machine's own on its way to another machine's pods. The setting lasts until the next start of this computer.
 */
import { readFile, writeFile } from "node:fs/promises";

const bridgeSetting = "/proc/sys/net/bridge/bridge-nf-call-iptables";

/** @param warn told how the person can do it, where this process may not */
export async function bypassPacketFilter(warn: (message: string) => void, setting = bridgeSetting): Promise<void> {
  const value = await readFile(setting, "utf8").catch(() => "0");
  if (value.trim() === "0") {
    return;
  }
  try {
    await writeFile(setting, "0");
  } catch {
    warn(
      "This computer filters traffic inside bridges, so pods see other addresses than each other's. As root: sysctl net.bridge.bridge-nf-call-iptables=0",
    );
  }
}
