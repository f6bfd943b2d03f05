import { startLocalCluster } from "@quartermaster/local-cluster";
import type { TestProject } from "vitest/node";

import type { SharedClusterFacts } from "./shared-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedCluster: SharedClusterFacts;
  }
}

/**
 * Vitest's global set-up: one control plane for the whole run. It ends with the run, also when the run is killed: the
 * cluster's guardian sees to that. Returns the tear-down.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The control plane takes most of a run's CPU time, a sixth of which was its garbage collection.
  const cluster = await startLocalCluster({ kwokNodes: 3, audit: "Metadata", goGcPercent: 400 });
  project.provide("sharedCluster", {
    admin: { server: cluster.admin.server, caPem: cluster.admin.caPem, token: cluster.admin.token ?? "" },
    kubeconfigPath: cluster.kubeconfigPath,
    auditLogPath: cluster.auditLogPath ?? "",
  });
  return async () => await cluster.stop();
}
