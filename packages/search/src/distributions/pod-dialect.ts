import { distinguishedName } from "@quartermaster/runtime/certificates";

import { adminSubject, nodeSubject } from "../model/cluster-names.ts";
import type { Settings } from "../model/encode-settings.ts";
import {
  isPlainOpenSearch,
  type NodeRole,
  type SearchCluster,
  type TlsWish,
} from "../model/search-cluster.ts";

/** Everything in which the two distributions differ, as far as their pods are concerned. */
export interface Dialect {
  /** Name of the container, the program and its tools: `<engine>-keystore`, `<engine>-plugin`. */
  readonly engine: "opensearch" | "elasticsearch";
  /** Name of the configuration file. */
  readonly settingsFile: string;
  /** Prefix of labels on objects and pods. */
  readonly labelPrefix: string;
  /** Environment variable for options of the JVM. */
  readonly javaOptions: string;
  /** Environment variable for the folder of the configuration. */
  readonly pathConfig: string;
  /** Setting with the names of the first managers. */
  readonly initialManagers: string;
  /** Further variables that the image's entry point reads. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether users come from files of the configuration's folder. */
  readonly hasFileRealm: boolean;
  /** Port that accepts connections once the node is ready; undefined where there is none. */
  readonly readinessPort: number | undefined;
  roleName(role: NodeRole): string;
  securitySettings(cluster: SearchCluster): Settings;
}

/** Folder of the certificates within that of the configuration: the engines read files nowhere else. */
export const certificateFolder = "certificates";
/** Folder of the security plugin's files within that of the configuration. */
export const securityFilesFolder = "opensearch-security";
/** Folder of the file realm's files within that of the configuration. */
export const fileRealmFolder = "file-realm";

/** How the distribution and version of this cluster speak. */
export function dialectOf({
  distribution,
  version,
}: Pick<SearchCluster, "distribution" | "version">): Dialect {
  return distribution === "opensearch" ? opensearch(version) : elasticsearch(version);
}

function opensearch(version: string): Dialect {
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
    readinessPort: undefined,
    roleName: (role) => (role === "cluster_manager" && speaksOfMasters ? "master" : role),
    securitySettings: (cluster) =>
      cluster.security.isEnabled ? opensearchSecurity(cluster) : { "plugins.security.disabled": true },
  };
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
    // Nodes share a certificate and have changing addresses: a peer is trusted by the authority and its subject.
    "plugins.security.ssl.transport.enforce_hostname_verification": false,
    "plugins.security.ssl.http.enabled": http.isEnabled,
    ...opensearchLayer("http", http, version),
  };
}

function opensearchLayer(layer: "transport" | "http", { isEnabled }: TlsWish, version: string): Settings {
  if (!isEnabled) return {};
  const prefix = `plugins.security.ssl.${layer}`;
  return {
    [`${prefix}.pemcert_filepath`]: `${certificateFolder}/${layer}.crt`,
    [`${prefix}.pemkey_filepath`]: `${certificateFolder}/${layer}.key`,
    [`${prefix}.pemtrustedcas_filepath`]: `${certificateFolder}/${layer}-ca.crt`,
    // Below 2.19 a new certificate with other names is refused, and the node needs a restart.
    ...(isBefore(version, 2, 19) ? {} : { [`${prefix}.enforce_cert_reload_dn_verification`]: false }),
  };
}

function elasticsearch(version: string): Dialect {
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
    readinessPort: hasReadiness ? 9400 : undefined,
    roleName: (role) => (role === "cluster_manager" ? "master" : role),
    securitySettings: (cluster) => ({
      ...(isBefore(version, 8, 0) ? {} : { "xpack.security.autoconfiguration.enabled": false }),
      ...(hasReadiness ? { "readiness.port": 9400 } : {}),
      "xpack.security.enabled": cluster.security.isEnabled,
      ...(cluster.security.isEnabled ? elasticsearchSecurity(cluster) : {}),
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

function elasticsearchLayer(layer: "transport" | "http", { isEnabled }: TlsWish): Settings {
  const prefix = `xpack.security.${layer}.ssl`;
  if (!isEnabled) return { [`${prefix}.enabled`]: false };
  return {
    [`${prefix}.enabled`]: true,
    [`${prefix}.certificate`]: `${certificateFolder}/${layer}.crt`,
    [`${prefix}.key`]: `${certificateFolder}/${layer}.key`,
    [`${prefix}.certificate_authorities`]: [`${certificateFolder}/${layer}-ca.crt`],
  };
}

/** Whether a version such as `2.19.4` is older than major.minor. One that cannot be read counts as new. */
function isBefore(version: string, major: number, minor: number): boolean {
  const [, first, second] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (first === undefined || second === undefined) return false;
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}
