import { z } from "zod";

import type { ApiClient } from "../api/api-client.ts";
import type { System } from "../system/system.ts";
import { DNS_READY_PORT } from "./cluster-objects.ts";
import { KUBE_PROXY_HEALTH_PORT } from "./kubelet-config.ts";
import { HUB, HUB_ADDRESS, networkNamespaceFile } from "./network.ts";
import { tryTool } from "./run-tool.ts";

/**
 * True when the node reports Ready and its kubelet responds: the condition alone may be that of a kubelet that was killed
 * just now.
 */
export async function isNodeReady(name: string, api: ApiClient): Promise<boolean> {
  const node = await bodyOf(`/api/v1/nodes/${name}`, api);
  if (node === undefined || !hasReadyCondition(JSON.parse(node))) return false;
  return (await bodyOf(`/api/v1/nodes/${name}/proxy/healthz`, api)) === "ok";
}

const nodeSchema = z.object({
  status: z
    .object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional() })
    .optional(),
});

/** True when the node's own condition says so. */
export function hasReadyCondition(node: unknown): boolean {
  const conditions = nodeSchema.parse(node).status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** True when the node's kube-proxy has its rules in place. */
export async function isKubeProxyHealthy(name: string, api: ApiClient): Promise<boolean> {
  return (
    (await bodyOf(`/api/v1/nodes/http:${name}:${KUBE_PROXY_HEALTH_PORT}/proxy/healthz`, api)) !== undefined
  );
}

/** True when the name server knows the cluster's Services. Queried from inside the hub, which nothing outside can reach. */
export async function isDnsReady(directory: string, system: System): Promise<boolean> {
  const script = `require("node:http").get("http://${HUB_ADDRESS}:${DNS_READY_PORT}/ready", ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))`;
  const { code } = await tryTool(
    {
      command: process.execPath,
      args: ["-e", script],
      networkNamespace: networkNamespaceFile(directory, HUB),
    },
    system,
  );
  return code === 0;
}

/** The body of a good response. Anything else means: not yet. */
async function bodyOf(path: string, api: ApiClient): Promise<string | undefined> {
  try {
    const { status, body } = await api.send({ path, timeoutMs: 3000 });
    return status === 200 ? body : undefined;
  } catch {
    // Refused or cut: callers try again and watch the process itself.
    return undefined;
  }
}
