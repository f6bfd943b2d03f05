import type { Subject } from "@quartermaster/runtime/certificates";

import type { NodePool, SearchCluster } from "./search-cluster.ts";

/** Names of the objects that a cluster is made of. They are upstream's, so that scripts and adopted clusters keep working. */
export interface ClusterNames {
  /** Governs discovery: all managers, ready or not. */
  readonly discoveryService: string;
  /** For clients. */
  readonly clientService: string;
  /** Settings that all pools have. */
  readonly config: string;
  /** The first managers, until the cluster is formed. */
  readonly bootstrap: string;
  readonly caSecret: string;
  readonly transportCertificate: string;
  readonly httpCertificate: string;
  readonly adminCertificate: string;
  readonly adminPassword: string;
  /** The operator's own account at Elasticsearch; no pod mounts it. */
  readonly operatorPassword: string;
  /** Files for the first users of an OpenSearch without TLS for clients. */
  readonly securityFiles: string;
  /** Users of Elasticsearch's file realm: keys `users` and `users_roles`. */
  readonly fileRealm: string;
}

/** The names for one cluster. */
export function clusterNames({
  name,
  serviceName,
}: Pick<SearchCluster, "name" | "serviceName">): ClusterNames {
  return {
    discoveryService: `${name}-discovery`,
    clientService: serviceName,
    config: `${name}-config`,
    bootstrap: `${name}-bootstrap`,
    caSecret: `${name}-ca`,
    transportCertificate: `${name}-transport-cert`,
    httpCertificate: `${name}-http-cert`,
    adminCertificate: `${name}-admin-cert`,
    adminPassword: `${name}-admin-password`,
    operatorPassword: `${name}-operator-password`,
    securityFiles: `${name}-security-files`,
    fileRealm: `${name}-file-realm`,
  };
}

/** Names of the objects of one pool. */
export interface PoolNames {
  readonly statefulSet: string;
  /** Headless; governs the pods' names. */
  readonly service: string;
  readonly config: string;
}

/** The names for one pool. */
export function poolNames(
  { name, serviceName }: Pick<SearchCluster, "name" | "serviceName">,
  pool: Pick<NodePool, "name">,
): PoolNames {
  return {
    statefulSet: `${name}-${pool.name}`,
    service: `${serviceName}-${pool.name}`,
    config: `${name}-${pool.name}-config`,
  };
}

/** Whom the certificate of every node names. Other nodes let in who has it, signed by the cluster's CA. */
export function nodeSubject(cluster: Pick<SearchCluster, "name" | "namespace">): Subject {
  return {
    commonName: "node",
    organizationalUnits: [cluster.name],
    organizations: [cluster.namespace],
  };
}

/** Whom the operator's own certificate names: an administrator by certificate, with no password. */
export function adminSubject(cluster: Pick<SearchCluster, "name" | "namespace">): Subject {
  return { ...nodeSubject(cluster), commonName: "admin" };
}

/** The operator's own account where no certificate can prove who it is. */
export const operatorUser = "quartermaster-operator";
