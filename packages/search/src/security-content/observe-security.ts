import { type Context, isJsonObject, type Live, parseJson } from "@quartermaster/runtime";
import { type Secret, secrets } from "@quartermaster/runtime/kinds";

import { asFact } from "../engine/as-fact.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { Fact } from "../engine/engine-facts.ts";
import { isPlainOpenSearch, type SearchCluster } from "../model/search-cluster.ts";
import type { PodFacts } from "../seen.ts";
import { readSecurityFiles } from "./read-security-files.ts";
import { type AppliedContent, NOTHING_APPLIED, type ReadFiles, type SecuritySeen } from "./security-seen.ts";

/** Secret with the record of what was applied. */
export function appliedName({ name }: Pick<SearchCluster, "name">): string {
  return `${name}-security-applied`;
}

/** What observing the security content needs. */
export interface SecurityQuestion {
  readonly cluster: SearchCluster;
  readonly client: EngineClient | undefined;
  readonly ctx: Context;
  readonly podList: readonly PodFacts[];
  readonly isFormed: boolean;
}

/** Reads the record, the author's files and, until security is initialised, the engine. */
export async function observeSecurity(question: SecurityQuestion): Promise<SecuritySeen> {
  const { cluster, ctx, podList } = question;
  const applied = readApplied(
    ctx.store(secrets).get({ name: appliedName(cluster), namespace: cluster.namespace }),
  );
  return {
    hasIndex: await indexFact(question, applied),
    // The readiness probe asks the plugin itself.
    serving: new Set(podList.flatMap((pod) => (pod.isReady ? [pod.name] : []))),
    files: filesOf(cluster, ctx),
    applied,
  };
}

/** Once it was initialised by us the index is there; until then the engine is asked. */
async function indexFact(
  { cluster, client, isFormed, podList }: SecurityQuestion,
  { entities }: AppliedContent,
): Promise<Fact<boolean>> {
  if (Object.keys(entities).length > 0) return { isKnown: true, value: true, atMs: 0 };
  // Nodes answer nobody before, and only an administrator by certificate may look at the index.
  if (isPlainOpenSearch(cluster) && podList.some(({ isReady }) => isReady))
    return { isKnown: true, value: true, atMs: 0 };
  const isAsked =
    !isPlainOpenSearch(cluster) &&
    isFormed &&
    cluster.security.isEnabled &&
    cluster.distribution === "opensearch";
  if (!isAsked || client === undefined) return { isKnown: false, why: "not asked" };
  return await asFact(client.hasSecurityIndex(), 0);
}

function filesOf({ security }: SearchCluster, ctx: Context): ReadFiles | undefined {
  const name = security.securityConfigSecret;
  return name === undefined ? undefined : readSecurityFiles(ctx.follow(secrets, { name })?.data ?? {});
}

/** The record; one that cannot be read counts as none, and everything is applied again. */
export function readApplied(live: Live<Secret> | undefined): AppliedContent {
  const text = live?.data?.["applied"];
  if (text === undefined) return NOTHING_APPLIED;
  try {
    const value: unknown = parseJson(Buffer.from(text, "base64").toString());
    if (!isJsonObject(value)) return NOTHING_APPLIED;
    return { ...NOTHING_APPLIED, ...(value as Partial<AppliedContent>) };
  } catch {
    return NOTHING_APPLIED;
  }
}
