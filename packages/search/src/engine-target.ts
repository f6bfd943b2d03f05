import { serverNameOf } from "./certificates/wanted-leaves.ts";
import type { EngineTarget } from "./engine/engine-client.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import type { Material, PodFacts } from "./seen.ts";

/** Where the engine is, once there is somebody to ask and a key to ask with. */
export function engineTarget(
  cluster: SearchCluster,
  material: Material,
  pods: readonly PodFacts[],
): EngineTarget | undefined {
  const { distribution, httpPort, security } = cluster;
  const endpoints = pods.flatMap(({ name, ip, isTerminating }) =>
    ip === undefined || isTerminating ? [] : [{ node: name, host: ip, port: httpPort }],
  );
  const login = material.fileRealm?.operator.login;
  const hasKey = material.fileRealm === undefined || login !== undefined;
  if (endpoints.length === 0 || !hasKey) return undefined;
  const base = { distribution, endpoints, login };
  if (!security.isEnabled || !security.http.isEnabled) return { ...base, tls: undefined };
  const tls = tlsOf(cluster, material);
  return tls === undefined ? undefined : { ...base, tls };
}

function tlsOf(cluster: SearchCluster, material: Material): EngineTarget["tls"] {
  const { pair: authority } = material.authority;
  if (authority === undefined) return undefined;
  return {
    // Nodes that have not restarted yet still serve certificates of the other.
    caPem: [...material.foreignHttpTrust, authority.certificatePem].join("\n"),
    serverName: cluster.serverName ?? serverNameOf(cluster),
    otherName: cluster.serverName === undefined ? undefined : serverNameOf(cluster),
    mountedLeaves: material.mountedLeaves,
    client: material.leaves.get("admin")?.pair,
  };
}
