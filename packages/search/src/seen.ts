import type { Live } from "@quartermaster/runtime";
import type { CertifiedKey } from "@quartermaster/runtime/certificates";
import type { Secret, StatefulSet } from "@quartermaster/runtime/kinds";

import type { AutoscalingSeen } from "./autoscaling/sample-windows.ts";
import type { MountedCertificates } from "./certificates/running-tls.ts";
import type { DashboardsSeen } from "./dashboards/observe-dashboards.ts";
import type { KeptObject } from "./deletion/protection-lane.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import type { EngineFacts } from "./engine/engine-facts.ts";
import type { ClaimFact } from "./formation/mounted-claims.ts";
import type { VolumeFacts } from "./formation/volume-facts.ts";
import type { Predecessor } from "./handover/predecessor.ts";
import type { LicenseSeen } from "./license/observe-license.ts";
import type { ClusterObject, ReadCluster } from "./model/read-cluster.ts";
import type { MonitoringSeen } from "./monitoring/observe-monitoring.ts";
import type { PresentObject } from "./present-object.ts";
import type { SecuritySeen } from "./security-content/observe-security.ts";
import type { FollowedInputs } from "./workload/pool-inputs-hash.ts";

/** The status of a cluster, as far as it was written before. */
export type ClusterStatus = NonNullable<ClusterObject["status"]>;

/** Whether the cluster was reported as declared. */
export function saysReady({ conditions = [] }: Partial<ClusterStatus>): boolean {
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** Everything that a decision about a cluster reads. Lanes pass no messages: they read the same facts. */
export interface Seen extends ReadCluster {
  readonly object: Live<ClusterObject>;
  /** When the observation was complete. */
  readonly readAtMs: number;
  /** For writes; undefined while no node has an address. */
  readonly engineClient: EngineClient | undefined;
  /** The declared version, where it is not the one that the nodes run: lanes see the running one. */
  readonly heldVersion: string | undefined;
  /** TLS as it is declared, in words, where the nodes have it otherwise: lanes see it as it is. */
  readonly heldTls: string | undefined;
  /** Storage that is declared and that StatefulSets have otherwise, e.g. `data: diskSize (1Gi, 2Gi is declared)`: lanes see it as it is. */
  readonly heldStorage: readonly string[];
  /** Whose certificates nodes serve until they are restarted. */
  readonly mounted: MountedCertificates;
  readonly status: Partial<ClusterStatus>;
  /** An object of the same name in the newer group acts instead. */
  readonly isSuperseded: boolean;
  /** Objects that it has to take over from this one. */
  readonly leftToHeir: readonly PresentObject[];
  /** The object of the same name in the older group. */
  readonly predecessor: Predecessor | undefined;
  /** Names that the cluster needs and others have, as `Kind name`. */
  readonly takenNames: readonly string[];
  readonly material: Material;
  /** Our StatefulSets by the name of their pool, those of dropped pools too. */
  readonly statefulSets: ReadonlyMap<string, Live<StatefulSet>>;
  readonly pods: readonly PodFacts[];
  readonly volumes: readonly VolumeFacts[];
  /** Claims, CA and passwords: what outlives the cluster. */
  readonly kept: readonly KeptObject[];
  /** Claims that pods mount by name and that the store does not show as ours, read live; empty while no node is added. */
  readonly claims: readonly ClaimFact[];
  /** Whether the list of nodes that may found the cluster is there, and names anybody. */
  readonly bootstrapList: "absent" | "empty" | "filled";
  readonly engine: EngineFacts;
  readonly autoscaling: AutoscalingSeen;
  readonly security: SecuritySeen;
  readonly license: LicenseSeen;
  /** Disruption budgets of nodes and their network policy, wanted or not. */
  readonly guards: readonly PresentObject[];
  readonly dashboards: DashboardsSeen;
  readonly monitoring: MonitoringSeen;
}

/** A pod of a pool. */
export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  readonly pool: string;
  readonly ip: string | undefined;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** Hash of the inputs that it was started with. */
  readonly inputsHash: string | undefined;
  /** Machine that it runs on; undefined until it is scheduled. */
  readonly machine?: string | undefined;
  /** Names of the attributes that it has from there. */
  readonly attributes?: readonly string[] | undefined;
  /** Why it does not run, as the kubelet or the scheduler say. */
  readonly trouble: string | undefined;
  /** How often its containers were started again. */
  readonly restarts: number;
  /** An image cannot be had. */
  readonly isImageMissing: boolean;
  /** It has not been started yet. */
  readonly isPending: boolean;
  /** Since when it is not ready, or exists; undefined while it is ready. */
  readonly unreadySinceMs: number | undefined;
}

/** A Secret whose name is ours: what it holds, or that it is another client's. */
export interface SecretFact {
  readonly name: string;
  readonly state: "missing" | "ours" | "kept" | "foreign";
  readonly live: Live<Secret> | undefined;
}

/** Keys, certificates and passwords. */
export interface Material {
  readonly ca: SecretFact & { readonly pair: CertifiedKey | undefined };
  readonly certificates: ReadonlyMap<
    CertificateName,
    SecretFact & { readonly pair: CertifiedKey | undefined }
  >;
  /** CAs of the author's for single certificates, with their keys (default: `ca` signs all). */
  readonly issuers?: ReadonlyMap<CertificateName, CertifiedKey> | undefined;
  /** Certificate that the author wants the operator to use (default: that of `certificates`). */
  readonly operatorClient?: CertifiedKey | undefined;
  /** Certificates that the author supplies, with their keys. */
  readonly supplied: ReadonlyMap<"transport" | "http", CertifiedKey>;
  /** CAs of certificates that the author supplies, PEM; also of those that nodes still serve. */
  readonly foreignTrust: readonly string[];
  /** Those of them that clients meet. */
  readonly foreignHttpTrust: readonly string[];
  /** Fingerprints of the author's certificates that nodes show to clients until they are restarted. */
  readonly mountedCertificates: readonly string[];
  readonly adminPassword: AccountFact;
  /** Files that users come from, at Elasticsearch or at an OpenSearch without TLS for clients; undefined elsewhere. */
  readonly fileRealm: FileRealmMaterial | undefined;
  /** The account of Dashboards or Kibana that is ours; undefined where there is none. */
  readonly dashboards: AccountFact | undefined;
  /** The exporter's account that is ours; undefined where there is none. */
  readonly monitoring: AccountFact | undefined;
  /** Grafana's administrator; undefined where there is no Grafana of ours. */
  readonly grafana: AccountFact | undefined;
  /** Secrets that the spec names and that are not there yet, or lack a key: what the user has to do. */
  readonly missing: readonly string[];
  /** Inputs of pods that are not in the spec, for `poolInputsHash`. */
  readonly podInputs: FollowedInputs;
}

/** A Secret with an account. */
export interface AccountFact extends SecretFact {
  readonly login: Login | undefined;
  /** Changes with the Secret, and says nothing of what it holds. */
  readonly version: string;
}

/** Secrets of users that come from files. */
export interface FileRealmMaterial {
  /** The account that the operator itself logs in with. */
  readonly operator: AccountFact;
  /** The files that nodes mount: users with their hashes, and their roles. */
  readonly files: SecretFact;
}

/** Certificates that a CA signs. */
export type CertificateName = "transport" | "http" | "admin" | "dashboards" | "monitoring";

/** An account. */
export interface Login {
  readonly username: string;
  readonly password: string;
}
