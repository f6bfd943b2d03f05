import { type Context, isJsonObject, type Live, parseJson } from "@quartermaster/runtime";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";

import { followedFiles, followedRecord, isCut } from "../bounded-data.ts";
import type { SecurityDocuments } from "../engine/engine-client.ts";
import type { EngineFacts, Fact } from "../engine/engine-facts.ts";
import { ownRealmUsers } from "../file-realm/own-realm-users.ts";
import { NO_REALM_FILES, readRealmFiles, type RealmFiles } from "../file-realm/read-realm-files.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import { isPlainOpenSearch, type SearchCluster } from "../model/search-cluster.ts";
import type { PodFacts } from "../seen.ts";
import { readSecurityFiles } from "./read-security-files.ts";

export interface SecuritySeen {
  /** Whether the index with users and roles is there, with every document. */
  readonly hasIndex: Fact<boolean>;
  /** Nodes that serve clients: the content has reached them. */
  readonly serving: ReadonlySet<string>;
  /** Content of the author's files; undefined without such a Secret. */
  readonly files: ReadFiles | undefined;
  /** The same at Elasticsearch, whose users are in files of other forms. */
  readonly realm?: RealmFiles | undefined;
  readonly applied: AppliedContent;
}

/** The author's files, read. */
export interface ReadFiles {
  readonly documents: Partial<SecurityDocuments>;
  /** Files that cannot be read, with why. */
  readonly problems: readonly string[];
  /** The Secret that should hold them does not exist. */
  readonly isMissing?: true;
}

/** The last applied content; kept in a Secret, because an engine returns no hashes. */
export interface AppliedContent {
  /** Digest of each entity by `<type>/<name>`. */
  readonly entities: Readonly<Record<string, string>>;
  /** Hashes of passwords by user name, each with the version of the Secret that it was made from. */
  readonly hashes: Readonly<Record<string, { readonly from: string; readonly hash: string }>>;
  /** The index of the audit log was made to fit its copies to the nodes; once is enough, later settings are the author's. */
  readonly isAuditFitted?: boolean;
}

/** Nothing applied yet. */
export const NOTHING_APPLIED: AppliedContent = { entities: {}, hashes: {} };

/** Secret with the record of what was applied. */
export function appliedName({ name }: Pick<SearchCluster, "name">): string {
  return `${name}-security-applied`;
}

export interface SecurityQuery {
  readonly cluster: SearchCluster;
  readonly ctx: Context;
  readonly podList: readonly PodFacts[];
  readonly engine: Pick<EngineFacts, "securityIndex">;
}

/** Reads the record and the author's files, and what was sampled of the engine. */
export function observeSecurity(question: SecurityQuery): SecuritySeen {
  const { cluster, ctx, podList } = question;
  const applied = appliedIn(cluster, ctx);
  return {
    hasIndex: indexFact(question, applied),
    // The readiness probe queries the plugin itself.
    serving: new Set(podList.flatMap((pod) => (pod.isReady ? [pod.name] : []))),
    ...filesOf(cluster, ctx),
    applied,
  };
}

/** Whether the sampler has to find out if the index is there: until it was initialized by us. */
export function needsSecurityIndexFact(cluster: SearchCluster, ctx: Context, isFormed: boolean): boolean {
  return (
    !isPlainOpenSearch(cluster) &&
    isFormed &&
    cluster.security.isEnabled &&
    distributionFacts[cluster.distribution].hasSecurityPlugin &&
    Object.keys(appliedIn(cluster, ctx).entities).length === 0
  );
}

function appliedIn(cluster: SearchCluster, ctx: Context): AppliedContent {
  const ref = { name: appliedName(cluster), namespace: cluster.namespace };
  const live = ctx.store(secrets).get(ref);
  return readApplied(isCut(live?.data?.[recordKey]) ? ctx.follow(secrets, ref, followedRecord) : live);
}

/** Once it was initialized by us the index is there; until then the engine says so. */
function indexFact({ cluster, engine, podList }: SecurityQuery, { entities }: AppliedContent): Fact<boolean> {
  if (Object.keys(entities).length > 0) return { isKnown: true, value: true, atMs: 0 };
  // Nodes refuse all requests before, and only an administrator by certificate may read the index.
  if (isPlainOpenSearch(cluster) && podList.some(({ isReady }) => isReady))
    return { isKnown: true, value: true, atMs: 0 };
  return engine.securityIndex;
}

function filesOf(
  { security, distribution }: SearchCluster,
  ctx: Context,
): Pick<SecuritySeen, "files" | "realm"> {
  const name = security.securityConfigSecret;
  if (name === undefined) return { files: undefined };
  const live = ctx.follow(secrets, { name }, followedFiles);
  if (!distributionFacts[distribution].hasSecurityPlugin)
    return {
      files: undefined,
      realm:
        live === undefined
          ? { ...NO_REALM_FILES, isMissing: true }
          : readRealmFiles(live.data ?? {}, ownRealmUsers),
    };
  return {
    files:
      live === undefined
        ? { documents: {}, problems: [], isMissing: true }
        : readSecurityFiles(live.data ?? {}),
  };
}

const recordKey = "applied";

/** The record; one that cannot be read counts as none, and everything is applied again. */
export function readApplied(live: Live<Secret> | undefined): AppliedContent {
  const text = live?.data?.[recordKey];
  if (text === undefined) return NOTHING_APPLIED;
  try {
    const value: unknown = parseJson(Buffer.from(text, "base64").toString());
    if (!isJsonObject(value)) return NOTHING_APPLIED;
    return { ...NOTHING_APPLIED, ...(value as Partial<AppliedContent>) };
  } catch {
    return NOTHING_APPLIED;
  }
}
