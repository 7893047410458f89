/**
 * What happens on machines: their user data, and the Resources that live in a guest.
 */
import type { ResourceRegistry } from "../cloud/resource";

export {
  type ControlPlaneMachine,
  controlPlaneUserData,
  userDataSize,
  type WorkerMachine,
  workerUserData,
} from "./user-data";

export const guestResources: ResourceRegistry = {};
