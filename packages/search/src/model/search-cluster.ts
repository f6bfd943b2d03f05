import type { JsonObject } from "@quartermaster/runtime";

import type { AutoscalingPolicy } from "./autoscaling-policy.ts";
import { type Distribution, distributionFacts } from "./distribution-facts.ts";
import type { MaintenanceWindow } from "./maintenance-window.ts";
import type { ClientServiceSettings, HelperSettings, ObjectMetadata } from "./object-metadata.ts";
import type { GrpcSettings } from "./read-grpc.ts";
import type { MonitoringSettings } from "./read-monitoring.ts";

/** Role of a node, in the engine's words. `data` stands for every tier; an empty list is a coordinating node. */
export type NodeRole =
  | "cluster_manager"
  | "data"
  | "data_content"
  | "data_hot"
  | "data_warm"
  | "data_cold"
  | "data_frozen"
  | "ingest"
  | "ml"
  | "remote_cluster_client"
  | "search"
  | "transform"
  | "voting_only"
  /** OpenSearch 3: searchable snapshots. */
  | "warm"
  | "coordinating_only";

/**
 * A search cluster as its author declared it, whichever kind and group the object has: names resolved, defaults filled in, checked.
 * Lanes read nothing else of the spec.
 */
export interface SearchCluster {
  readonly distribution: Distribution;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly version: string;
  readonly image: ImageSettings;
  /** Name of the Service for clients. */
  readonly serviceName: string;
  readonly httpPort: number;
  /** Name that the operator verifies in the nodes' certificates (default: that of the Service). */
  readonly serverName: string | undefined;
  /** Where the engine is in its image, e.g. `/usr/share/opensearch`. */
  readonly home: string;
  readonly pools: readonly NodePool[];
  /** Lines of the engine's configuration for all pools, as text. */
  readonly config: Readonly<Record<string, string>>;
  readonly plugins: readonly string[];
  readonly keystore: readonly KeystoreEntry[];
  /** Settings that are changed by the engine's API, without a restart. */
  readonly dynamicSettings: Readonly<Record<string, string>>;
  readonly repositories: readonly RepositorySpec[];
  /** Addresses that the engine lets repositories of type url have: the operator's list, whatever users of the engine's API request. */
  readonly repositoryUrls: readonly string[];
  readonly security: SecuritySettings;
  readonly pod: PodSettings;
  /** Undefined: nodes serve no gRPC. */
  readonly grpc?: GrpcSettings | undefined;
  readonly helper?: HelperSettings | undefined;
  /** What nodes take from the labels of their machines (default: nothing). */
  readonly nodeAttributes?: readonly NodeAttribute[] | undefined;
  /** Of all Services of nodes. */
  readonly serviceAnnotations?: Readonly<Record<string, string>> | undefined;
  /** The Service for clients (default: of type ClusterIP). */
  readonly service?: ClientServiceSettings | undefined;
  /** Labels and annotations of all objects besides pods and claims (default: none). */
  readonly common?: ObjectMetadata | undefined;
  readonly dashboards: DashboardsSettings | undefined;
  readonly monitoring: MonitoringSettings | undefined;
  readonly networkPolicy: { readonly isEnabled: boolean; readonly from: readonly JsonObject[] };
  /** Where the operator runs, if that is a namespace of this cluster: it has to reach the nodes. */
  readonly operatorNamespace?: string | undefined;
  /** Domain of Services (default: cluster.local). */
  readonly clusterDomain?: string | undefined;
  /** What becomes of volumes, authority and passwords when the cluster is deleted. */
  readonly whenDeleted: "Retain" | "Delete";
  /** Policy for the claims of a removed pool. */
  readonly whenPoolRemoved: "Retain" | "Delete";
  /** Shards leave a node before it restarts. */
  readonly drainsBeforeRestart: boolean;
  /** Shards leave a node before it is removed; otherwise a started copy of each elsewhere is enough. */
  readonly drainsBeforeRemoval: boolean;
  /** When nodes may be restarted or removed; empty means always. */
  readonly windows: readonly MaintenanceWindow[];
  readonly isPaused: boolean;
  readonly isDeletionProtected: boolean;
  /** Requests of the annotations; a new value acts once. */
  readonly requests: ClusterRequests;
}

/** Image of the engine. */
export interface ImageSettings {
  readonly name: string;
  readonly pullPolicy?: string | undefined;
  readonly pullSecrets: readonly string[];
}

/** Nodes that are alike: one StatefulSet. */
export interface NodePool {
  /** `component` in the spec. */
  readonly name: string;
  /** Decision of auto-scaling, where it acts; otherwise the declared number. */
  readonly replicas: number;
  readonly roles: readonly NodeRole[];
  readonly storage: PoolStorage;
  /** Policy for a claim whose node was removed for good. */
  readonly whenScaled: "Retain" | "Delete";
  /** Another image than the cluster's. */
  readonly image: string | undefined;
  /** Of that image (default: the cluster's). */
  readonly pullPolicy?: string | undefined;
  /** Besides the cluster's. */
  readonly pullSecrets?: readonly string[] | undefined;
  /** Options of the JVM, e.g. `-Xmx1g -Xms1g`. */
  readonly jvm: string | undefined;
  readonly config: Readonly<Record<string, string>>;
  /** `resources` of the container. */
  readonly resources: JsonObject | undefined;
  readonly pdb: PoolDisruptionBudget | undefined;
  readonly autoscaling: AutoscalingPolicy | undefined;
  readonly pod: PodSettings;
}

/** A disruption budget that the author requested. */
export interface PoolDisruptionBudget {
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
}

/** Where a node keeps its data. */
export type PoolStorage =
  | {
      readonly kind: "volume";
      readonly size: string;
      readonly storageClass?: string | undefined;
      readonly accessModes: readonly string[];
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | { readonly kind: "emptyDir"; readonly source: JsonObject }
  | { readonly kind: "hostPath"; readonly source: JsonObject };

/**
 * An author's settings for pods, as JSON of a pod template: it is not understood but merged, and checked by a dry run. A pool's
 * fields win over the cluster's.
 */
export interface PodSettings {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Fields of the pod's spec: affinity, nodeSelector, tolerations, topologySpreadConstraints, hostAliases, securityContext, … */
  readonly spec: JsonObject;
  /** Fields of the engine's container: env, securityContext; and `probes` as the spec has them. */
  readonly container: JsonObject;
  readonly sidecars: readonly JsonObject[];
  readonly initContainers: readonly JsonObject[];
  /** `additionalVolumes` of the spec. */
  readonly volumes: readonly JsonObject[];
  /** Shell command that the author starts the engine with; left out, the image's own. */
  readonly command?: string;
  /** A privileged init container sets `vm.max_map_count`. */
  readonly setsMaxMapCount: boolean;
}

/** Entries of the engine's keystore from a Secret. */
export interface KeystoreEntry {
  readonly secretName: string;
  /** Key in the Secret → name in the keystore; empty means all keys under their own names. */
  readonly keys: Readonly<Record<string, string>>;
}

/** An attribute of nodes, and the label of the machine that it comes from. */
export interface NodeAttribute {
  readonly name: string;
  readonly nodeLabel: string;
}

/** A snapshot repository. */
export interface RepositorySpec {
  readonly name: string;
  /** E.g. `s3`. */
  readonly type: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** How the cluster is secured. */
export interface SecuritySettings {
  /** False only where the author switched both layers off. */
  readonly isEnabled: boolean;
  readonly transport: TlsSettings;
  readonly http: TlsSettings;
  /** Secret with `username` and `password` of the administrator (default: generated). */
  readonly adminCredentialsSecret: string | undefined;
  /** Secret with files of the security plugin: users, roles, mappings, … */
  readonly securityConfigSecret: string | undefined;
  /** Secret with the administrator's client certificate (default: issued by us). */
  readonly adminSecret: string | undefined;
  /** Subjects that count as administrators besides ours. */
  readonly adminDns: readonly string[];
  /** Subjects that count as nodes besides ours. */
  readonly nodeDns: readonly string[];
}

/** TLS of one layer. */
export interface TlsSettings {
  readonly isEnabled: boolean;
  /** True: certificates are ours. False: they come from `secret`. */
  readonly isGenerated: boolean;
  readonly secret: string | undefined;
  readonly caSecret: string | undefined;
  readonly extraNames: readonly string[];
  readonly durationMs: number;
  /** How long before its end a certificate is renewed (default: 30 days or a third of its life, the shorter). */
  readonly renewBeforeMs: number | undefined;
}

/** OpenSearch Dashboards or Kibana. */
export interface DashboardsSettings {
  readonly version: string;
  /** Where it is in its image. */
  readonly home: string;
  readonly image: ImageSettings;
  readonly replicas: number;
  readonly isTlsEnabled: boolean;
  readonly tlsSecret: string | undefined;
  /** Secret with the CA that signs its certificate (default: that of the cluster). */
  readonly tlsCaSecret?: string | undefined;
  /** Validity of its certificate (default: that of certificates for clients). */
  readonly tlsDurationMs?: number | undefined;
  readonly plugins?: readonly string[] | undefined;
  readonly basePath: string | undefined;
  readonly config: Readonly<Record<string, string>>;
  readonly credentialsSecret: string | undefined;
  readonly resources: JsonObject | undefined;
  readonly service: {
    readonly type: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly sourceRanges: readonly string[];
  };
  readonly pod: PodSettings;
}

/** Values of the annotations that request something. */
export interface ClusterRequests {
  /** UUID that the author is ready to give up. */
  readonly acceptNewCluster: string | undefined;
  readonly renewCertificates: string | undefined;
  /** Of all pools. An annotation that no longer exists keeps its last value: taking it away restarts no one. */
  readonly restart: string | undefined;
  /** Of single pools, by name. */
  readonly restartPools: Readonly<Record<string, string>>;
  /** Names of checks that the author does without. */
  readonly skipChecks: readonly string[];
}

/** Something in the spec that cannot be carried out; all of them are reported together. */
export interface SpecIssue {
  /** E.g. `spec.nodePools[0].roles[1]`. */
  readonly path: string;
  readonly reason: "InvalidSpec" | "ReservedSetting" | "PluginSourceNotAllowed" | "RepositoryNotAllowed";
  /** The problem and its remedy. */
  readonly message: string;
}

/**
 * Whether users are on but clients talk to OpenSearch without TLS. No certificate can prove who the operator is then: it logs in with an
 * account of its own, and nodes make their first users from files.
 */
export function isPlainOpenSearch({
  distribution,
  security,
}: Pick<SearchCluster, "distribution" | "security">): boolean {
  return distributionFacts[distribution].hasSecurityPlugin && security.isEnabled && !security.http.isEnabled;
}

/** Whether nodes of the pool elect the manager of the cluster. */
export function isManagerPool({ roles }: { readonly roles: readonly string[] }): boolean {
  return roles.includes("cluster_manager");
}

/** Whether nodes of the pool hold data, of whichever tier. */
export function isDataPool({ roles }: { readonly roles: readonly string[] }): boolean {
  return roles.some((role) => role.startsWith("data") || role === "search" || role === "warm");
}

/** The most nodes that the schema lets a pool have. A larger ordinal is not that of a node of ours. */
export const mostPoolNodes = 1000;

/** Names of the pool's pods, which are the names of its nodes. */
export function podNames(
  cluster: Pick<SearchCluster, "name">,
  pool: Pick<NodePool, "name" | "replicas">,
): readonly string[] {
  return Array.from(
    { length: pool.replicas },
    (_, ordinal) => `${cluster.name}-${pool.name}-${String(ordinal)}`,
  );
}
