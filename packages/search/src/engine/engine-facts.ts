/** One fact of the engine: known since a moment, or unknown. Unknown is never empty. */
export type Fact<T> =
  | { readonly isKnown: true; readonly value: T; readonly atMs: number }
  | { readonly isKnown: false; readonly why: string };

/** Facts of an engine for a decision. Parts that no rule needs now are unknown with reason `not asked`. */
export interface EngineFacts {
  readonly health: Fact<EngineHealth>;
  readonly nodes: Fact<readonly EngineNode[]>;
  readonly coordination: Fact<Coordination>;
  readonly shards: Fact<readonly EngineShard[]>;
  /** Identity that each node reports, by its name. */
  readonly identities: ReadonlyMap<string, Fact<EngineIdentity>>;
  readonly license: Fact<EngineLicense>;
  /** Whether the index with users and roles is there. */
  readonly securityIndex: Fact<boolean>;
  readonly settings: Fact<EngineSettings>;
  readonly nodeLoad: Fact<readonly NodeLoad[]>;
  readonly indices: Fact<readonly EngineIndex[]>;
  readonly repositories: Fact<readonly EngineRepository[]>;
  /** Why some copies are not placed, or do not move; empty while all do. */
  readonly explanations: Fact<readonly ShardExplanation[]>;
  /** Certificates that each node uses now, by its name. */
  readonly served: ReadonlyMap<string, Fact<ServedCertificates>>;
}

/** Certificates of a node: for clients by a handshake, for other nodes by its own report. */
export interface ServedCertificates {
  /** Fingerprint of the certificate for clients. */
  readonly http: string;
  /** When the certificate between nodes ends; undefined where the engine has no API that tells. */
  readonly transportEndMs: number | undefined;
}

export interface EngineIdentity {
  readonly node: string;
  readonly version: string;
  readonly clusterName: string;
  /** Undefined until the node belongs to a formed cluster. */
  readonly clusterUuid: string | undefined;
  /** Whether the cluster's founding is committed: the node has applied a state with voters. False proves no blank disk. */
  readonly hasVoters: boolean;
}

/** Health of the whole. */
export interface EngineHealth {
  readonly status: "green" | "yellow" | "red";
  readonly nodes: number;
  readonly dataNodes: number;
  readonly activeShards: number;
  readonly relocatingShards: number;
  readonly initializingShards: number;
  readonly unassignedShards: number;
  readonly pendingTasks: number;
}

/** A member of the cluster. Roles are OpenSearch's words in both distributions: `cluster_manager`, never `master`. */
export interface EngineNode {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly roles: readonly string[];
  readonly isElected: boolean;
}

/** One copy of a shard. */
export interface EngineShard {
  readonly index: string;
  readonly shard: number;
  readonly isPrimary: boolean;
  readonly state: "STARTED" | "RELOCATING" | "INITIALIZING" | "UNASSIGNED";
  /** Name of the node that holds it; undefined while unassigned. */
  readonly node: string | undefined;
}

/** Why a copy is not placed, or stays. Engine text in it is bounded and printable. */
export interface ShardExplanation extends Pick<EngineShard, "index" | "shard" | "isPrimary" | "node"> {
  /** Each node that could hold it, with the engine's rules that say no. */
  readonly nodes: readonly { readonly node: string; readonly deciders: readonly string[] }[];
  /** The engine's own words. */
  readonly text: string;
}

/** An index, as far as it decides how many nodes it needs. */
export interface EngineIndex {
  readonly name: string;
  /** Copies besides the primary. */
  readonly replicas: number;
  /** The engine itself fits the number of copies to the nodes that may hold them. */
  readonly isAutoExpanded: boolean;
}

/** Who votes. */
export interface Coordination {
  readonly clusterUuid: string;
  /** Names of the committed voters; an id where the node is not a member. */
  readonly voters: readonly string[];
  readonly exclusions: readonly string[];
  /** Name of the elected manager; undefined while there is none. */
  readonly elected: string | undefined;
}

/** Settings that were made through the API, flat: `cluster.routing.allocation.enable` → value. Null resets. */
export interface EngineSettings {
  readonly persistent: Readonly<Record<string, string | null>>;
  readonly transient: Readonly<Record<string, string | null>>;
}

/** A snapshot repository, of ours or of others. */
export interface EngineRepository {
  readonly name: string;
  /** E.g. `fs`. */
  readonly type: string;
  /** As the engine shows them, flat. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface NodeLoad {
  readonly node: string;
  readonly shards: number;
  readonly documents: number;
  /** Size of its shards on disk. */
  readonly storeBytes: number;
  /** Of its data path; undefined if the node does not report it. */
  readonly diskTotalBytes: number | undefined;
  /** The same. */
  readonly diskFreeBytes: number | undefined;
  readonly heapPercent: number;
  /** CPU use of its process, in percent of its limit, else of the machine. Undefined if the node does not report it. */
  readonly cpuPercent: number | undefined;
  /** Searches that wait for a thread; undefined if the node does not tell. */
  readonly searchQueue: number | undefined;
  /** Writes that were rejected since the process was started; undefined if the node does not tell. */
  readonly writeRejections: number | undefined;
}

/** The license that an engine runs under. */
export interface EngineLicense {
  readonly uid: string;
  readonly type: string;
  readonly status: "active" | "invalid" | "expired";
  /** Undefined: it never expires. */
  readonly expiryMs: number | undefined;
  readonly maxNodes: number | undefined;
}

/** Result of a call of the license API: HTTP 200 is not success. */
export interface LicenseResponse {
  /** `refused`: understood, and not possible any more, as a second trial. `invalid`: no such license file will ever be accepted. */
  readonly outcome: "applied" | "acknowledgeRequired" | "alreadySo" | "invalid" | "expired" | "refused";
  /** The cause of an `invalid` one besides the license: the cluster's configuration. */
  readonly cause?: LicenseCause | undefined;
  /** The server's own words, made printable, at most 20. */
  readonly messages: readonly string[];
}

/** Why a cluster takes no license of a type. */
export type LicenseCause = "typeNotAllowed" | "tlsRequired" | "fipsMode";

/** Whether the engine refuses queries for its health because its license has expired, which says nothing about it. */
export function isLicenseExpired({ health }: Pick<EngineFacts, "health">): boolean {
  return !health.isKnown && health.why === "licenseExpired";
}
