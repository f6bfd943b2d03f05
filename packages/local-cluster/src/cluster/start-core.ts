import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { type ApiAccess, ApiClient } from "../api/api-client.ts";
import type { Binaries } from "../assets/resolve.ts";
import { findFreePort } from "../control-plane/free-port.ts";
import {
  type ControlPlane,
  type ControlPlaneLocation,
  startControlPlane,
} from "../control-plane/start-control-plane.ts";
import { LocalClusterError } from "../errors.ts";
import { writeBusyboxImage } from "../images/busybox-image.ts";
import { hasReadyCondition } from "../nodes/is-node-ready.ts";
import { API_PORT } from "../nodes/network.ts";
import { openApiPassage } from "../nodes/passage.ts";
import { findCniPluginDirectory } from "../nodes/prerequisites.ts";
import { startVolumeProvisioner } from "../nodes/provision-volumes.ts";
import { type NodeHandle, openHub, startNodes } from "../nodes/start-nodes.ts";
import { type ClusterCredentials, createCredentials, writeKubeconfig } from "../pki/cluster-credentials.ts";
import type { System } from "../system/system.ts";
import type { ClusterPlan, NodeRequest } from "./options.ts";

export interface ClusterCore {
  readonly controlPlane: ControlPlane;
  readonly nodes: readonly NodeHandle[];
}

export interface CoreOptions {
  readonly plan: ClusterPlan;
  readonly binaries: Binaries;
  /** Of real nodes; may come later. */
  readonly nodeBinaries: Promise<Binaries>;
  readonly system: System;
}

/** Starts control plane and nodes; resolves when the default service account is there and every node is Ready. */
export async function startCore(directory: string, options: CoreOptions): Promise<ClusterCore> {
  const { plan, binaries, system } = options;
  const credentials = await createCredentials(directory, system);
  const location = await chooseLocation(directory, options);
  const controlPlane = await startControlPlane({
    ...plan,
    directory,
    binaries,
    credentials,
    location,
    system,
  });
  publishAccess(directory, controlPlane.admin, binaries);
  plan.onApiReady({ directory, note: (text) => plan.report({ kind: "note", text }) });
  using api = new ApiClient(controlPlane.admin);
  const [nodes] = await Promise.all([
    addRealNodes(directory, { ...options, api, controlPlane, credentials }),
    addKwokNodes(api, plan.kwokNodes),
    startVolumeProvisioner(directory, controlPlane.admin, system),
  ]);
  const nodeNames = plan.kwokNodes.map(({ name }) => name);
  await untilFurnished(api, { nodeNames, withinMs: 60_000, system, signal: plan.signal });
  return { controlPlane, nodes };
}

/** The administrator's kubeconfig and the kubectl of the cluster's version. */
function publishAccess(directory: string, admin: ApiAccess, binaries: Binaries): void {
  writeKubeconfig(kubeconfigIn(directory), {
    server: admin.server,
    caPem: admin.caPem,
    user: "admin",
    credential: { token: admin.token ?? "" },
  });
  mkdirSync(join(directory, "bin"), { recursive: true });
  symlinkSync(binaries.path("kubectl"), join(directory, "bin", "kubectl"));
}

/** Where the administrator's kubeconfig of the cluster in this directory is. */
export function kubeconfigIn(directory: string): string {
  return join(directory, "kubeconfig");
}

/** Loopback; or, where there are real nodes, a network namespace of the cluster's own with a passage to loopback. */
async function chooseLocation(
  directory: string,
  { plan, system }: CoreOptions,
): Promise<ControlPlaneLocation> {
  const port = plan.port ?? (await findFreePort());
  const url = `https://127.0.0.1:${port}`;
  if (plan.nodes.length === 0) return { address: "127.0.0.1", port, url };
  const hub = await openHub(directory, system);
  await openApiPassage({ directory, port, system });
  return { ...hub, port: API_PORT, url };
}

interface RealNodesOptions extends CoreOptions {
  readonly api: ApiClient;
  readonly controlPlane: ControlPlane;
  readonly credentials: ClusterCredentials;
}

async function addRealNodes(directory: string, options: RealNodesOptions): Promise<readonly NodeHandle[]> {
  const { plan, api, controlPlane, credentials, system } = options;
  if (plan.nodes.length === 0) return [];
  const binaries = await options.nodeBinaries;
  const busybox = await writeBusyboxImage(join(directory, "images", "busybox"));
  return await startNodes({
    directory,
    nodes: plan.nodes,
    binaries: { kubelet: binaries.path("kubelet"), "kube-proxy": binaries.path("kube-proxy") },
    corednsPath: binaries.path("coredns"),
    credentials,
    kubeconfigFor: async (user, groups) => await controlPlane.kubeconfigFor(user, groups),
    api,
    cniPluginDirectory: findCniPluginDirectory() ?? "",
    images: [busybox.directory, ...plan.images],
    system,
    signal: plan.signal,
  });
}

/** Adds nodes that kwok manages: pods are simulated on them. */
async function addKwokNodes(client: ApiClient, nodes: readonly Required<NodeRequest>[]): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => await client.apply(`/api/v1/nodes/${node.name}`, kwokNode(node))),
  );
}

/** The Node object that stands for a simulated node. */
function kwokNode({ name, zone }: Required<NodeRequest>): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      annotations: { "kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0" },
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": zone,
        type: "kwok",
      },
    },
  };
}

export interface Furniture {
  readonly nodeNames: readonly string[];
  readonly withinMs: number;
  readonly system: System;
  readonly signal?: AbortSignal;
}

/** Waits until the default namespace has its service account and every node is Ready. */
async function untilFurnished(
  client: ApiClient,
  { nodeNames, withinMs, system, signal }: Furniture,
): Promise<void> {
  const deadline = system.nowMs() + withinMs;
  const missing = new Set(["service account default/default", ...nodeNames.map((name) => `node ${name}`)]);
  for (;;) {
    for (const item of missing) if (await isThere(client, item)) missing.delete(item);
    if (missing.size === 0) return;
    if (system.nowMs() > deadline) throw notFurnished([...missing], withinMs);
    await system.sleep(25, signal);
  }
}

async function isThere(client: ApiClient, item: string): Promise<boolean> {
  if (!item.startsWith("node "))
    return (await client.send({ path: "/api/v1/namespaces/default/serviceaccounts/default" })).status === 200;
  const response = await client.send({ path: `/api/v1/nodes/${item.slice("node ".length)}` });
  return response.status === 200 && hasReadyCondition(JSON.parse(response.body));
}

function notFurnished(missing: readonly string[], withinMs: number): LocalClusterError {
  return new LocalClusterError(
    "NotReadyInTime",
    `After ${withinMs / 1000} s the cluster still lacks: ${missing.join(", ")}.`,
    "Check what else keeps the machine busy and start again.",
  );
}
