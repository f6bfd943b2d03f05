import { podDialect } from "../distributions/distributions.ts";
import { clusterNames } from "../model/cluster-names.ts";
import { readSettings, type Settings } from "../model/read-settings.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";

/** Between nodes; not for clients. */
export const transportPort = 9300;

/** Settings that every node of the cluster has: the author's, and above them ours. */
export function sharedSettings(cluster: SearchCluster): Settings {
  return {
    ...cluster.grpc?.settings,
    ...readSettings(cluster.config).settings,
    ...identitySettings(cluster),
  };
}

/** All settings of a pool's nodes. Reserved ones are ours, whatever an author wrote: `workloadIssues` reports that. */
export function nodeSettings(cluster: SearchCluster, pool: NodePool): Settings {
  const dialect = podDialect(cluster);
  return {
    ...cluster.grpc?.settings,
    ...readSettings(cluster.config).settings,
    ...readSettings(pool.config).settings,
    ...identitySettings(cluster),
    "node.roles": pool.roles
      .filter((role) => role !== "coordinating_only")
      .map((role) => dialect.roleName(role)),
  };
}

/** Whether a setting decides who a node is and whom it trusts; authors may not write it. */
export function isReserved(key: string): boolean {
  return (
    reservedKeys.has(key) || reservedPrefixes.some((prefix) => key === prefix || key.startsWith(`${prefix}.`))
  );
}

/** Placeholders stand for variables of the pod's environment; the engine replaces them. */
function identitySettings(cluster: SearchCluster): Settings {
  const { name, home, httpPort } = cluster;
  const dialect = podDialect(cluster);
  return {
    "cluster.name": name,
    "node.name": "${POD_NAME}",
    "network.bind_host": "0.0.0.0",
    "network.publish_host": "${POD_IP}",
    "http.port": httpPort,
    "transport.port": transportPort,
    "discovery.seed_hosts": [clusterNames(cluster).discoveryService],
    "path.data": `${home}/data`,
    "path.logs": `${home}/logs`,
    ...(cluster.repositoryUrls.length === 0
      ? {}
      : { "repositories.url.allowed_urls": cluster.repositoryUrls }),
    ...dialect.securitySettings(cluster),
  };
}

const reservedKeys: ReadonlySet<string> = new Set([
  "cluster.name",
  "http.port",
  "network.bind_host",
  "network.host",
  "network.publish_host",
  "node.data",
  "node.ingest",
  "node.master",
  "node.name",
  "node.roles",
  "path.data",
  "path.home",
  "path.logs",
  "plugins.security.allow_default_init_securityindex",
  "plugins.security.allow_unsafe_democertificates",
  "plugins.security.authcz.admin_dn",
  "plugins.security.disabled",
  "plugins.security.nodes_dn",
  "plugins.security.ssl.http.enabled",
  "plugins.security.ssl_cert_reload_enabled",
  "plugins.security.ssl_only",
  "readiness.port",
  "repositories.url.allowed_urls",
  "transport.port",
  "xpack.security.autoconfiguration.enabled",
  "xpack.security.enabled",
  ...["transport", "http"].flatMap((layer) => [
    ...["pemcert", "pemkey", "pemtrustedcas", "keystore", "truststore"].map(
      (file) => `plugins.security.ssl.${layer}.${file}_filepath`,
    ),
    ...["enabled", "certificate", "key", "certificate_authorities", "keystore.path", "truststore.path"].map(
      (field) => `xpack.security.${layer}.ssl.${field}`,
    ),
  ]),
  "plugins.security.ssl.transport.enforce_hostname_verification",
  "xpack.security.transport.ssl.verification_mode",
]);

const reservedPrefixes = [
  "discovery",
  "cluster.initial_cluster_manager_nodes",
  "cluster.initial_master_nodes",
];
