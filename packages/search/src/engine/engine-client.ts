import type { JsonObject } from "@quartermaster/runtime";
import type { CertificateFacts } from "@quartermaster/runtime/certificates";

import type { Distribution } from "../model/distribution-facts.ts";
import type {
  Coordination,
  EngineHealth,
  EngineIdentity,
  EngineIndex,
  EngineLicense,
  EngineNode,
  EngineRepository,
  EngineSettings,
  EngineShard,
  LicenseResponse,
  NodeLoad,
  ShardExplanation,
} from "./engine-facts.ts";

/**
 * The only connection to an engine. Fakes stand here and nowhere else; one contract suite holds them to real engines.
 *
 * A read gives facts or throws an `EngineError`: what is unknown is never empty. Calls without a node use any node that responds;
 * those with one use that node and no other.
 */
export interface EngineClient {
  /**
   * A node's own identity: it may have no manager, and no cluster yet. Engines show only what they have applied: a
   * restarted node whose disk knows a cluster says `clusterUuid: undefined` until a manager is elected. It proves no blank disk.
   */
  identity(node: string): Promise<EngineIdentity>;
  health(): Promise<EngineHealth>;
  nodes(): Promise<readonly EngineNode[]>;
  /** One row per copy; a relocating copy has two: RELOCATING on its source node, INITIALIZING on the one it goes to. */
  shards(): Promise<readonly EngineShard[]>;
  /** Committed voters and vote exclusions. */
  coordination(): Promise<Coordination>;
  settings(): Promise<EngineSettings>;
  /** Documents and bytes on each node, from its own statistics: the second source beside the shard table. */
  nodeLoad(): Promise<readonly NodeLoad[]>;
  /** Every index, hidden ones too, with the copies that it requests. */
  indices(): Promise<readonly EngineIndex[]>;

  /** Why a copy is not placed or, where it names a node, why it does not leave that. */
  explain(copy: ExplainedCopy): Promise<ShardExplanation>;

  /** Sets persistent or transient settings; null resets one. Others stay. */
  putSettings(changes: Partial<EngineSettings>): Promise<void>;
  /** Returns when the nodes have left the committed voters. Names of no member are accepted and stay listed. */
  excludeVotes(nodes: readonly string[]): Promise<void>;
  /** Clears all of them, also while the nodes are members. */
  clearVoteExclusions(): Promise<void>;
  flush(): Promise<void>;
  /**
   * Has indices fit their copies to the nodes, none or one: those that are named, and by an index template those to come. One that
   * clashes with a template of another client is `invalid`.
   */
  fitReplicas(settings: FittedIndices): Promise<void>;

  /** Snapshot repositories that anybody registered. */
  repositories(): Promise<readonly EngineRepository[]>;
  /** Registers one, or changes it, without trying it out. `invalid`: it cannot be used so. */
  putRepository(repository: EngineRepository): Promise<void>;
  /** Has every node try it; `invalid` if one of them cannot use it. */
  verifyRepository(name: string): Promise<void>;
  /** Deregisters one; what it holds stays. One that is not there is no error; a pattern is `invalid`. */
  deleteRepository(name: string): Promise<void>;

  /** The certificate that the node serves to clients now, by a handshake and without a request: trusted or not. */
  servedCertificate(node: string): Promise<CertificateFacts>;
  /** When the certificate ends that the node shows to other nodes now, by its own word. Engines without that API throw `unsupported`. */
  transportCertificateEndMs(node: string): Promise<number>;
  /** Makes one node read its certificates again. A 200 proves nothing: read what it serves. */
  reloadCertificates(node: string, layer: TlsLayer): Promise<void>;

  /** Whether the node serves clients: security is initialised there. Needs no login. */
  isServing(node: string): Promise<boolean>;
  /** Whether the index that holds users and roles exists with every document: nodes take nothing of an index that lacks one. */
  hasSecurityIndex(): Promise<boolean>;
  /** Creates the index, and each document that is missing; never overwrites one. Gives those that were made now. */
  initSecurity(documents: SecurityDocuments): Promise<readonly SecurityDocumentType[]>;
  /** Entities by name; hashes of passwords are never shown. */
  entities(type: SecurityEntityType): Promise<ReadonlyMap<string, JsonObject>>;
  /** Creates or replaces one. Keeps a `reserved` flag that the body does not name; static names are `invalid`. */
  putEntity(type: SecurityEntityType, name: string, body: JsonObject): Promise<void>;
  /** Deletes one; one that is not there is no error. */
  deleteEntity(type: SecurityEntityType, name: string): Promise<void>;

  /** License API; engines without one throw `unsupported`. */
  license(): Promise<EngineLicense>;
  putLicense(license: JsonObject, options: { readonly acknowledge: boolean }): Promise<LicenseResponse>;
  startTrial(options: { readonly acknowledge: boolean }): Promise<LicenseResponse>;
  startBasic(options: { readonly acknowledge: boolean }): Promise<LicenseResponse>;

  /** Ends its connections. */
  close(): Promise<void>;
}

/** A copy of a shard: where it is, or that it is nowhere. */
export type ExplainedCopy = Pick<EngineShard, "index" | "shard" | "isPrimary" | "node">;

/** Calls that reach the engine, as metrics and errors name them. */
export type EngineCall = Exclude<keyof EngineClient, "close" | "servedCertificate">;

/** Calls that change nothing. */
export const engineReads: readonly EngineCall[] = [
  "identity",
  "health",
  "nodes",
  "shards",
  "coordination",
  "settings",
  "nodeLoad",
  "indices",
  "explain",
  "repositories",
  "transportCertificateEndMs",
  "isServing",
  "hasSecurityIndex",
  "entities",
  "license",
];

/** All calls. */
export const engineCalls: readonly EngineCall[] = [
  ...engineReads,
  "putSettings",
  "excludeVotes",
  "clearVoteExclusions",
  "flush",
  "fitReplicas",
  "putRepository",
  "verifyRepository",
  "deleteRepository",
  "reloadCertificates",
  "initSecurity",
  "putEntity",
  "deleteEntity",
  "putLicense",
  "startTrial",
  "startBasic",
];

/** Indices whose copies follow the number of nodes. */
export interface FittedIndices {
  /** Name of the index template. */
  readonly template: string;
  /** Of indices to come, e.g. `security-auditlog-*`. */
  readonly pattern: string;
  /** Indices that are there. */
  readonly indices: readonly string[];
}

/** Traffic between nodes, or with clients. */
export type TlsLayer = "transport" | "http";

export type SecurityEntityType = "internalusers" | "roles" | "rolesmapping" | "actiongroups" | "tenants";

/** A document of the security index. */
export type SecurityDocumentType = "config" | SecurityEntityType;

/** All that the security plugin needs. */
export const securityDocumentTypes: readonly SecurityDocumentType[] = [
  "config",
  "internalusers",
  "roles",
  "rolesmapping",
  "actiongroups",
  "tenants",
];

/** Every document that the security plugin needs, by type: `config` and the entities, each an object of named entries. */
export type SecurityDocuments = Readonly<Record<SecurityDocumentType, JsonObject>>;

/** Where an engine is, and how we prove who we are. */
export interface EngineTarget {
  readonly distribution: Distribution;
  /** The pods of the cluster; nothing else is ever dialled. */
  readonly endpoints: readonly EngineEndpoint[];
  /** Undefined where the author switched TLS for clients off. */
  readonly tls: EngineTls | undefined;
  /** The operator's own account in Elasticsearch's file realm. */
  readonly login: { readonly username: string; readonly password: string } | undefined;
}

/** One node. */
export interface EngineEndpoint {
  /** Name of the node, which is the name of its pod. */
  readonly node: string;
  readonly host: string;
  readonly port: number;
}

/** Whom we trust, and under which name; with the administrator's certificate where the engine takes one. */
export interface EngineTls {
  readonly caPem: string;
  /** Verified in the certificate of every node, whatever its address. */
  readonly serverName: string;
  /** Another name that will do: ours is in certificates of our own, which nodes may serve until they are restarted. */
  readonly otherName?: string | undefined;
  /** Fingerprints (SHA-256, hex) of certificates that will do under any name: those that nodes have mounted. */
  readonly mountedCertificates?: readonly string[] | undefined;
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | undefined;
}

/** Makes a client for a target. Opens no connection on its own. */
export type ConnectEngine = (target: EngineTarget) => EngineClient;
