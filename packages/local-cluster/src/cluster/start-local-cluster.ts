import { join } from "node:path";
import type { Binaries } from "../assets/resolve.ts";
import { resolveBinaries } from "../assets/resolve.ts";
import type { ComponentName } from "../assets/component.ts";
import { ApiClient } from "../api/api-client.ts";
import { assembleCluster } from "./assemble-cluster.ts";
import { claimFolder, clustersFolder, folderError, writeOwner } from "./cluster-folder.ts";
import { addKwokNodes, untilFurnished } from "./furnish.ts";
import { assertSocketsFit } from "./socket-path.ts";
import { destroyCluster, reapAbandoned } from "./destroy-cluster.ts";
import { postGuard } from "./guard.ts";
import type { LocalCluster } from "./local-cluster.ts";
import type { ClusterPlan, LocalClusterOptions } from "./options.ts";
import { planCluster } from "./options.ts";
import { LocalClusterError } from "../errors.ts";
import { assertPortFree, findFreePort } from "../control-plane/free-port.ts";
import { startControlPlane } from "../control-plane/start-control-plane.ts";
import type { ControlPlane } from "../control-plane/start-control-plane.ts";
import { createCredentials } from "../pki/cluster-credentials.ts";
import type { System } from "../system/system.ts";
import { realSystem } from "../system/system.ts";

/**
 * Starts a real Kubernetes on this machine and returns when its API is ready, the default service account exists and its
 * nodes are Ready. What cannot be started is cleared away before the error is thrown.
 *
 * @example
 * await using cluster = await startLocalCluster({ kwokNodes: 3 });
 * await cluster.kubectl(["get", "nodes"]);
 */
export async function startLocalCluster(options: LocalClusterOptions = {}, system: System = realSystem): Promise<LocalCluster> {
  assertLinux();
  const plan = planCluster(options, system);
  if (options.port !== undefined) await assertPortFree(options.port);
  const parent = options.parentFolder ?? clustersFolder(system);
  await reapAbandoned(parent, system);
  const binaries = await resolveBinaries({
    components: neededComponents(plan),
    report: plan.report,
    system,
    ...(options.kubernetesVersion === undefined ? {} : { version: options.kubernetesVersion }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const folder = join(parent, plan.name);
  assertSocketsFit(folder);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startIn(folder, { options, plan, binaries, system });
    } catch (error) {
      const isPortLost = error instanceof LocalClusterError && error.code === "PortTaken" && options.port === undefined;
      if (!isPortLost || attempt === MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

/** Somebody may take a free port between our look and the API server's bind; more than twice in a row is no accident. */
const MAX_PORT_ATTEMPTS = 3;

interface Start {
  readonly options: LocalClusterOptions;
  readonly plan: ClusterPlan;
  readonly binaries: Binaries;
  readonly system: System;
}

async function startIn(folder: string, start: Start): Promise<LocalCluster> {
  claimFolder(folder);
  const guard = postGuard(folder);
  try {
    const controlPlane = await startCore(folder, start);
    const cluster = await assembleCluster(folder, { ...start, controlPlane, guard });
    if (start.plan.lifetime === "detached") {
      writeOwner(folder, "detached");
      await guard.release();
    }
    return cluster;
  } catch (error) {
    await destroyCluster(folder, start.system);
    await guard.release();
    throw folderError(folder, error);
  }
}

async function startCore(folder: string, { options, plan, binaries, system }: Start): Promise<ControlPlane> {
  const port = options.port ?? (await findFreePort());
  const credentials = await createCredentials(folder, system);
  const controlPlane = await startControlPlane({
    folder,
    binaries,
    credentials,
    place: { address: "127.0.0.1", port, url: `https://127.0.0.1:${port}` },
    featureGates: plan.featureGates,
    audit: options.audit,
    etcdCompactionInterval: plan.etcdCompactionInterval,
    extraApiServerArguments: plan.apiServerArguments,
    system,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  using client = new ApiClient(controlPlane.admin);
  await addKwokNodes(client, plan.kwokNodes);
  await untilFurnished(client, {
    nodeNames: plan.kwokNodes.map(({ name }) => name),
    withinMs: 60_000,
    system,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return controlPlane;
}

function neededComponents({ nodes }: ClusterPlan): readonly ComponentName[] {
  const controlPlane: readonly ComponentName[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"];
  return nodes.length === 0 ? controlPlane : [...controlPlane, "kubelet", "kube-proxy", "coredns"];
}

function assertLinux(): void {
  if (process.platform === "linux") return;
  throw new LocalClusterError("NotLinux", `A local cluster needs Linux; this is ${process.platform}.`, "Run it in a Linux virtual machine, or use an existing cluster by its kubeconfig.");
}
