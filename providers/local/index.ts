/**
 * The cloud that is this computer: machines are containers of podman or docker.
 */
import type { CloudProvider } from "../../cloud/provider";
import type { ResourceRegistry } from "../../cloud/resource";
import { image } from "./image";
import { machine } from "./machine";
import { model } from "./model";
import { network } from "./network";
import { poolImage } from "./pool-image";
import { type LocalCluster, render } from "./render";

export const localProvider: CloudProvider<LocalCluster> = { name: "local", render, model };

export const localResources: ResourceRegistry = {
  "local:Image": () => image,
  "local:Machine": () => machine,
  "local:Network": () => network,
  "local:PoolImage": () => poolImage,
};
