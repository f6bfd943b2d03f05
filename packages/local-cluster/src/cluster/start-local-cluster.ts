import { join } from "node:path";

import { type ComponentName, COMPONENTS } from "../assets/component.ts";
import type { ProgressReport } from "../assets/progress.ts";
import { type Binaries, resolveBinaries } from "../assets/resolve.ts";
import { assertPortFree } from "../control-plane/free-port.ts";
import { LocalClusterError } from "../errors.ts";
import { assertSocketsFit } from "../nodes/node-paths.ts";
import {
  describeMissing,
  installPrerequisites,
  type MissingPrerequisite,
  missingPrerequisites,
  probeMachine,
} from "../nodes/prerequisites.ts";
import { realSystem, type System } from "../system/system.ts";
import { claimDirectory, directoryError, postGuard, writeOwner } from "./claim-directory.ts";
import { destroyCluster, reapAbandoned } from "./destroy-cluster.ts";
import { assembleCluster, type LocalCluster } from "./local-cluster.ts";
import { type ClusterPlan, type LocalClusterOptions, planCluster, withoutRealNodes } from "./options.ts";
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
  const directory = join(plan.parentDirectory, plan.name);
  assertSocketsFit(directory);
  await reapAbandoned(plan.parentDirectory, system);
  const { report, signal, kubernetesVersion } = plan;
  const request = { report, system, version: kubernetesVersion };
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
    return await startOnFreePort(directory, { plan, notes, binaries, nodeBinaries, system });
  } catch (error) {
    failure.abort(error);
    await settled;
    throw error;
  }
}

/** Dependencies of a start. */
interface Start {
  readonly plan: ClusterPlan;
  readonly notes: readonly string[];
  readonly binaries: Binaries;
  readonly nodeBinaries: Promise<Binaries>;
  readonly system: System;
}

async function startOnFreePort(directory: string, start: Start): Promise<LocalCluster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startIn(directory, start);
    } catch (error) {
      const isPortLost =
        error instanceof LocalClusterError && error.code === "PortTaken" && start.plan.port === undefined;
      if (!isPortLost || attempt === MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

/** Another process may take a free port between our check and the API server's bind; more than twice in a row is no accident. */
const MAX_PORT_ATTEMPTS = 3;

async function startIn(directory: string, start: Start): Promise<LocalCluster> {
  const { plan, system } = start;
  claimDirectory(directory);
  const guard = postGuard(directory);
  try {
    const core = await startCore(directory, start);
    const cluster = await assembleCluster(directory, { ...start, core, guard });
    if (plan.lifetime === "detached") {
      writeOwner(directory, "detached");
      await guard.release();
    }
    return cluster;
  } catch (error) {
    await destroyCluster(directory, system);
    await guard.release();
    throw directoryError(directory, error);
  }
}

export function controlPlaneComponents({
  kwokNodes,
}: Pick<ClusterPlan, "kwokNodes">): readonly ComponentName[] {
  return COMPONENTS.map(({ name }) => name).filter(
    (name) => !NODE_COMPONENTS.has(name) && (name !== "kwok" || kwokNodes.length > 0),
  );
}

export function nodeComponents({ nodes }: Pick<ClusterPlan, "nodes">): readonly ComponentName[] {
  return nodes.length === 0 ? [] : [...NODE_COMPONENTS];
}

const NODE_COMPONENTS: ReadonlySet<ComponentName> = new Set(["kubelet", "kube-proxy", "coredns"]);

/** The plan that this machine can carry out, and notes about the difference. */
export interface SettledPlan {
  readonly plan: ClusterPlan;
  readonly notes: readonly string[];
}

/**
 * Keeps real nodes where the machine can have them, after installing what is missing if that was requested. Elsewhere the
 * same nodes are simulated (kwok), and one sentence says what is missing.
 */
async function settleProfile(plan: ClusterPlan, system: System): Promise<SettledPlan> {
  if (plan.nodes.length === 0) return { plan, notes: [] };
  const missing = await findMissing(plan, system);
  if (missing.length === 0) return { plan, notes: [] };
  const note = describeMissing(missing);
  plan.report({ kind: "note", text: note });
  return { plan: withoutRealNodes(plan), notes: [note] };
}

async function findMissing(plan: ClusterPlan, system: System): Promise<readonly MissingPrerequisite[]> {
  const missing = missingPrerequisites(await probeMachine(plan.parentDirectory, system));
  if (missing.length === 0 || !plan.installPrerequisites) return missing;
  await installPrerequisites({ missing, report: plan.report, system });
  return missingPrerequisites(await probeMachine(plan.parentDirectory, system));
}

/** Throws NotLinux elsewhere: etcd and the API server would run, but nothing could tell whose processes they are. */
export function assertLinux(platform: NodeJS.Platform): void {
  if (platform === "linux") return;
  throw new LocalClusterError(
    "NotLinux",
    `A local cluster needs Linux; this is ${platform}.`,
    "Run it in a Linux virtual machine, or use an existing cluster by its kubeconfig.",
  );
}

/**
 * Installs what real nodes need and builds their binaries, where that is possible, so that the first cluster with nodes starts in
 * seconds. Returns the sentence that says what is still missing, if anything.
 */
export async function prepareRealNodes(
  report: ProgressReport = () => undefined,
  system: System = realSystem,
): Promise<string | undefined> {
  const wanted = planCluster({ nodes: 1, installPrerequisites: true, report }, system);
  const { plan, notes } = await settleProfile(wanted, system);
  if (notes[0] !== undefined) return notes[0];
  const components = [...controlPlaneComponents(plan), ...nodeComponents(plan)];
  await resolveBinaries({ components, report, system });
  return undefined;
}
