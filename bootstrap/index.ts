/**
 * What happens on machines: their user data, and the Resources that live in a guest.
 */
import type { ResourceRegistry } from "../cloud/resource";
import { hostKey } from "./host-key";
import { joinInformation } from "./join-information";
import { kubeconfig } from "./kubeconfig";
import { node } from "./node";
import { readiness } from "./readiness";
import { sshKey } from "./ssh-key";

export {
  type ControlPlaneMachine,
  controlPlaneUserData,
  userDataSize,
  type WorkerMachine,
  workerUserData,
} from "./user-data";

export const guestResources: ResourceRegistry = {
  "guest:SshKey": () => sshKey,
  "guest:HostKey": () => hostKey,
  "guest:JoinInformation": () => joinInformation,
  "guest:Kubeconfig": () => kubeconfig,
  "guest:Node": () => node,
  "guest:Readiness": () => readiness,
};
