import { isBefore } from "../../model/is-before.ts";
import type { Settings } from "../../model/read-settings.ts";
import type { SearchCluster, TlsSettings } from "../../model/search-cluster.ts";
import { certificateDirectory, type PodDialect } from "../pod-dialect.ts";

/** Pods of Elasticsearch 7.17, 8.x and 9.x, and of its Kibana. */
export function elasticsearchPods(version: string): PodDialect {
  const hasReadiness = !isBefore(version, 8, 2);
  return {
    engine: "elasticsearch",
    settingsFile: "elasticsearch.yml",
    labelPrefix: "search.quartermaster.dev",
    javaOptions: "ES_JAVA_OPTS",
    pathConfig: "ES_PATH_CONF",
    initialManagers: "cluster.initial_master_nodes",
    environment: {},
    hasFileRealm: true,
    roleName: (role) => (role === "cluster_manager" ? "master" : role),
    securitySettings: (cluster) => ({
      ...(isBefore(version, 8, 0) ? {} : { "xpack.security.autoconfiguration.enabled": false }),
      ...(hasReadiness ? { "readiness.port": 9400 } : {}),
      "xpack.security.enabled": cluster.security.isEnabled,
      ...(cluster.security.isEnabled ? elasticsearchSecurity(cluster) : {}),
    }),
    // A port of its own accepts connections once the node is ready.
    readiness: ({ httpPort }) => ({ tcpSocket: { port: hasReadiness ? 9400 : httpPort } }),
    dashboardsFile: "kibana.yml",
    dashboardsCookies: (key, isTlsEnabled) => ({
      "xpack.security.encryptionKey": key,
      "xpack.security.secureCookies": isTlsEnabled,
    }),
  };
}

function elasticsearchSecurity({ security: { transport, http } }: SearchCluster): Settings {
  return {
    "xpack.security.authc.realms.file.file1.order": -100,
    "xpack.security.authc.realms.native.native1.order": -99,
    ...elasticsearchLayer("transport", transport),
    ...(transport.isEnabled ? { "xpack.security.transport.ssl.verification_mode": "certificate" } : {}),
    ...elasticsearchLayer("http", http),
  };
}

function elasticsearchLayer(layer: "transport" | "http", { isEnabled }: TlsSettings): Settings {
  const prefix = `xpack.security.${layer}.ssl`;
  if (!isEnabled) return { [`${prefix}.enabled`]: false };
  return {
    [`${prefix}.enabled`]: true,
    [`${prefix}.certificate`]: `${certificateDirectory}/${layer}.crt`,
    [`${prefix}.key`]: `${certificateDirectory}/${layer}.key`,
    [`${prefix}.certificate_authorities`]: [`${certificateDirectory}/${layer}-ca.crt`],
  };
}
