import { existsSync } from "node:fs";

import { findFreePort } from "../control-plane/free-port.ts";
import { networkNamespaceFile } from "../nodes/namespaces.ts";
import { HUB } from "../nodes/network.ts";
import { openHostPassage } from "../nodes/passage.ts";
import { realSystem, type System } from "../system/system.ts";

/**
 * A free port of this machine's loopback that the API server of a running cluster reaches as `127.0.0.1`, for a webhook outside. Where
 * the cluster has real nodes, its API server is in a network namespace of its own, and relays are started that end with the cluster.
 *
 * @example
 * const port = await reachHostPort(clusterFolderOf("quartermaster"));
 */
export async function reachHostPort(folder: string, system: System = realSystem): Promise<number> {
  const port = await findFreePort();
  if (existsSync(networkNamespaceFile(folder, HUB))) await openHostPassage({ folder, port, system });
  return port;
}
