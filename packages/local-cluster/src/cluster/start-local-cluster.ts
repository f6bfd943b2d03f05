import { join } from "node:path";

import { type ComponentName, COMPONENTS } from "../assets/component.ts";
import { type Binaries, resolveBinaries } from "../assets/resolve.ts";
import { assertPortFree } from "../control-plane/free-port.ts";
import { LocalClusterError } from "../errors.ts";
import { assertSocketsFit } from "../nodes/socket-path.ts";
import { realSystem, type System } from "../system/system.ts";
import { assembleCluster } from "./assemble-cluster.ts";
import { assertLinux } from "./assert-linux.ts";
import { claimFolder, folderError, writeOwner } from "./cluster-folder.ts";
import { destroyCluster, reapAbandoned } from "./destroy-cluster.ts";
import { postGuard } from "./guard.ts";
import type { LocalCluster } from "./local-cluster.ts";
import { type ClusterPlan, type LocalClusterOptions, planCluster } from "./options.ts";
import { settleProfile } from "./settle-profile.ts";
import { startCore } from "./start-core.ts";

/**
 * Starts a real Kubernetes on this machine and returns when its API is ready, the default service account exists and its
 * nodes are Ready. What cannot be started is cleared away before the error is thrown.
 *
 * @example
 * await using cluster = await startLocalCluster({ kwokNodes: 3 });
 * await cluster.kubectl(["get", "nodes"]);
 */
export async function startLocalCluster(
  options: LocalClusterOptions = {},
  system: System = realSystem,
): Promise<LocalCluster> {
  assertLinux(process.platform);
  const { plan, notes } = await settleProfile(planCluster(options, system), system);
  if (plan.port !== undefined) await assertPortFree(plan.port);
  const folder = join(plan.parentFolder, plan.name);
  assertSocketsFit(folder);
  await reapAbandoned(plan.parentFolder, system);
  const { report, signal, kubernetesVersion } = plan;
  const version = kubernetesVersion === undefined ? {} : { version: kubernetesVersion };
  const request = { report, system, ...version };
  const [first, later] = [controlPlaneComponents(plan), nodeComponents(plan)];
  const binaries = await resolveBinaries({ ...request, signal, components: first, later });
  const failure = new AbortController();
  // While they are built the control plane starts: on a new machine that shows the API minutes earlier.
  const nodeBinaries = resolveBinaries({
    ...request,
    signal: AbortSignal.any([signal, failure.signal]),
    components: later,
  });
  // A failure is reported by the start of the nodes, which waits for them.
  const settled = Promise.allSettled([nodeBinaries]);
  try {
    return await startOnFreePort(folder, { plan, notes, binaries, nodeBinaries, system });
  } catch (error) {
    failure.abort(error);
    await settled;
    throw error;
  }
}

/** What a start works with. */
interface Start {
  readonly plan: ClusterPlan;
  readonly notes: readonly string[];
  readonly binaries: Binaries;
  readonly nodeBinaries: Promise<Binaries>;
  readonly system: System;
}

async function startOnFreePort(folder: string, start: Start): Promise<LocalCluster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startIn(folder, start);
    } catch (error) {
      const isPortLost =
        error instanceof LocalClusterError && error.code === "PortTaken" && start.plan.port === undefined;
      if (!isPortLost || attempt === MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

/** Somebody may take a free port between our look and the API server's bind; more than twice in a row is no accident. */
const MAX_PORT_ATTEMPTS = 3;

async function startIn(folder: string, start: Start): Promise<LocalCluster> {
  const { plan, system } = start;
  claimFolder(folder);
  const guard = postGuard(folder);
  try {
    const core = await startCore(folder, start);
    const cluster = await assembleCluster(folder, { ...start, core, guard });
    if (plan.lifetime === "detached") {
      writeOwner(folder, "detached");
      await guard.release();
    }
    return cluster;
  } catch (error) {
    await destroyCluster(folder, system);
    await guard.release();
    throw folderError(folder, error);
  }
}

/** What serves the API, and kwok where there are nodes to simulate. */
export function controlPlaneComponents({
  kwokNodes,
}: Pick<ClusterPlan, "kwokNodes">): readonly ComponentName[] {
  return COMPONENTS.map(({ name }) => name).filter(
    (name) => !NODE_COMPONENTS.has(name) && (name !== "kwok" || kwokNodes.length > 0),
  );
}

/** What runs on real nodes. */
export function nodeComponents({ nodes }: Pick<ClusterPlan, "nodes">): readonly ComponentName[] {
  return nodes.length === 0 ? [] : [...NODE_COMPONENTS];
}

const NODE_COMPONENTS: ReadonlySet<ComponentName> = new Set(["kubelet", "kube-proxy", "coredns"]);
