import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { kinds } from "@quartermaster/api";
import { startLocalCluster } from "@quartermaster/local-cluster";
import { bundleProgram } from "@quartermaster/tools/bundle";
import type { TestProject } from "vitest/node";

import { connect, serveKinds } from "../connect.ts";
import type { SharedClusterFacts } from "./shared-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedCluster: SharedClusterFacts;
    /** The operator in one file, as its image has it: a test that kills it at every write starts it many times. */
    operatorProgram: string;
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
  const directory = await mkdtemp(join(tmpdir(), "qm-programs-"));
  const operatorProgram = join(directory, "operator.mjs");
  await bundleProgram({ entryPoint: operatorSource, outfile: operatorProgram });
  project.provide("operatorProgram", operatorProgram);
  return async () => {
    await rm(directory, { recursive: true, force: true });
    await cluster.stop();
  };
}

const operatorSource = new URL("../../../../apps/operator/src/main.ts", import.meta.url).pathname;
