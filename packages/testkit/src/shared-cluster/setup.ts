import { kinds } from "@quartermaster/api";
import { startLocalCluster } from "@quartermaster/local-cluster";
import type { TestProject } from "vitest/node";

import { connect, serveKinds } from "../connect.ts";
import type { SharedClusterFacts } from "./shared-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedCluster: SharedClusterFacts;
  }
}

/**
 * Vitest's global set-up: one control plane for the whole run, which serves our kinds as they are committed. No test applies them again:
 * that takes a tenth of a second on both sides for a large one, and a change ends every watch of the kind. It ends with the run, also
 * when the run is killed: the cluster's guardian sees to that. Returns the tear-down.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The control plane takes most of a run's CPU time, a sixth of which was its garbage collection.
  const cluster = await startLocalCluster({ kwokNodes: 3, audit: "Metadata", goGcPercent: 400 });
  const { server, caPem, token = "" } = cluster.admin;
  const admin = { server, caPem, token };
  await using connection = connect(admin);
  await serveKinds(
    connection.client,
    kinds.map(({ kind }) => kind),
  );
  project.provide("sharedCluster", {
    admin,
    kubeconfigPath: cluster.kubeconfigPath,
    auditLogPath: cluster.auditLogPath ?? "",
  });
  return async () => await cluster.stop();
}
