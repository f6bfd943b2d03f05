import type { ApiClient } from "../api/api-client.ts";
import { LocalClusterError } from "../errors.ts";
import { hasReadyCondition } from "../nodes/is-node-ready.ts";
import type { System } from "../system/system.ts";
import type { NodeRequest } from "./options.ts";

/** Adds nodes that kwok looks after: pods are simulated on them. */
export async function addKwokNodes(
  client: ApiClient,
  nodes: readonly Required<NodeRequest>[],
): Promise<void> {
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

/** What a cluster is expected to have before anybody uses it. */
export interface Furniture {
  readonly nodeNames: readonly string[];
  readonly withinMs: number;
  readonly system: System;
  readonly signal?: AbortSignal;
}

/** Waits until the default namespace has its service account and every node is Ready. */
export async function untilFurnished(
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
  const answer = await client.send({ path: `/api/v1/nodes/${item.slice("node ".length)}` });
  return answer.status === 200 && hasReadyCondition(JSON.parse(answer.body));
}

function notFurnished(missing: readonly string[], withinMs: number): LocalClusterError {
  return new LocalClusterError(
    "NotReadyInTime",
    `After ${withinMs / 1000} s the cluster still lacks: ${missing.join(", ")}.`,
    "Look for what else keeps the machine busy and start again.",
  );
}
