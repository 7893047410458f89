/**
 * Every cloud that this package has a provider for.
 */
import type { CloudProvider } from "../cloud/provider";
import type { CloudName } from "../cloud/spec";
import { localProvider } from "../providers/local";

const providers: Readonly<Record<CloudName, () => CloudProvider>> = {
  local: () => localProvider,
};

export function cloudProvider(name: CloudName): CloudProvider {
  return providers[name]();
}
