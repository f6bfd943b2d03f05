import type { JsonObject } from "@quartermaster/runtime";
import { distinguishedName } from "@quartermaster/runtime/certificates";

import { adminSubject, nodeSubject } from "../../model/cluster-names.ts";
import { isBefore } from "../../model/is-before.ts";
import type { Settings } from "../../model/read-settings.ts";
import { isPlainOpenSearch, type SearchCluster, type TlsSettings } from "../../model/search-cluster.ts";
import { certificateDirectory, type PodDialect } from "../pod-dialect.ts";

/** Pods of OpenSearch 1.x, 2.x and 3.x, and of its Dashboards. */
export function opensearchPods(version: string): PodDialect {
  const speaksOfMasters = isBefore(version, 2, 0);
  return {
    engine: "opensearch",
    settingsFile: "opensearch.yml",
    labelPrefix: "opensearch.org",
    javaOptions: "OPENSEARCH_JAVA_OPTS",
    pathConfig: "OPENSEARCH_PATH_CONF",
    initialManagers: speaksOfMasters
      ? "cluster.initial_master_nodes"
      : "cluster.initial_cluster_manager_nodes",
    // The image would otherwise make certificates and users for demonstrations, and start an agent beside the engine.
    environment: { DISABLE_INSTALL_DEMO_CONFIG: "true", DISABLE_PERFORMANCE_ANALYZER_AGENT_CLI: "true" },
    hasFileRealm: false,
    roleName: (role) => (role === "cluster_manager" && speaksOfMasters ? "master" : role),
    securitySettings: (cluster) =>
      cluster.security.isEnabled ? opensearchSecurity(cluster) : { "plugins.security.disabled": true },
    readiness: pluginReadiness,
    dashboardsFile: "opensearch_dashboards.yml",
    // Left alone, OpenSearch Dashboards encrypts its cookies with a key that is in its source.
    dashboardsCookies: (key, isTlsEnabled) => ({
      "opensearch_security.cookie.password": key,
      "opensearch_security.cookie.secure": isTlsEnabled,
    }),
  };
}

/** The plugin responds once it has read users and roles. */
function pluginReadiness({ httpPort, security }: SearchCluster): JsonObject {
  if (!security.isEnabled) return { tcpSocket: { port: httpPort } };
  const scheme = security.http.isEnabled ? "HTTPS" : "HTTP";
  return { httpGet: { path: "/_plugins/_security/health", port: httpPort, scheme } };
}

function opensearchSecurity(cluster: SearchCluster): Settings {
  const { security, version } = cluster;
  const { transport, http } = security;
  return {
    // An administrator's certificate comes before any user, so nothing may be installed by default. Without TLS there is no certificate.
    "plugins.security.allow_default_init_securityindex": isPlainOpenSearch(cluster),
    "plugins.security.authcz.admin_dn": [distinguishedName(adminSubject(cluster)), ...security.adminDns],
    "plugins.security.nodes_dn": [distinguishedName(nodeSubject(cluster)), ...security.nodeDns],
    "plugins.security.restapi.roles_enabled": ["all_access", "security_rest_api_access"],
    "plugins.security.ssl_cert_reload_enabled": true,
    ...opensearchLayer("transport", transport, version),
    // Nodes share a certificate and have changing addresses: a peer is trusted by the CA and its subject.
    "plugins.security.ssl.transport.enforce_hostname_verification": false,
    "plugins.security.ssl.http.enabled": http.isEnabled,
    ...opensearchLayer("http", http, version),
  };
}

function opensearchLayer(layer: "transport" | "http", { isEnabled }: TlsSettings, version: string): Settings {
  if (!isEnabled) return {};
  const prefix = `plugins.security.ssl.${layer}`;
  return {
    [`${prefix}.pemcert_filepath`]: `${certificateDirectory}/${layer}.crt`,
    [`${prefix}.pemkey_filepath`]: `${certificateDirectory}/${layer}.key`,
    [`${prefix}.pemtrustedcas_filepath`]: `${certificateDirectory}/${layer}-ca.crt`,
    // Below 2.19 a new certificate with other names is refused, and the node needs a restart.
    ...(isBefore(version, 2, 19) ? {} : { [`${prefix}.enforce_cert_reload_dn_verification`]: false }),
  };
}
