// The program: the stack's configuration, one cluster, and what the stack gives back.
import { Cluster, clusterFromConfig } from "pulumi-kubicorn";

const cluster = new Cluster("cluster", clusterFromConfig());

/** The administrator's kubeconfig: `npm run kubeconfig`. */
export const kubeconfig = cluster.kubeconfig;
