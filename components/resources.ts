/**
 * Every kind of Resource that this package has, by name.
 */
import { guestResources } from "../bootstrap";
import type { ResourceRegistry } from "../cloud/resource";
import { localResources } from "../providers/local";

export const resources: ResourceRegistry = { ...guestResources, ...localResources };
