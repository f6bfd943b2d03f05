import { digestOf, ExternalError, type JsonObject, printable } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";

import { EngineError } from "../engine/engine-error.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { labelsOf } from "../owner-labels.ts";
import type { ActionHandlers, PerformContext } from "../perform-context.ts";
import { searchReasons } from "../reasons.ts";
import type { ActionOf } from "../search-action.ts";
import { encode } from "../secret-text.ts";
import { type AppliedContent, appliedName, readApplied } from "./observe-security.ts";
import { digestsOf, entitiesOf, entityKey, type WantedEntity } from "./wanted-content.ts";

/** How users and roles are written. What was applied is recorded after it: a crash between repeats it, which changes nothing. */
export const securityHandlers: ActionHandlers<
  "initSecurity" | "putEntities" | "hashPassword" | "fitAuditIndex" | "deleteEntity"
> = { initSecurity, putEntities, hashPassword, fitAuditIndex, deleteEntity };

/**
 * Documents that an earlier attempt left may hold what was declared then: only what was made now is recorded as applied, and the rest is
 * merged later.
 */
async function initSecurity({ documents }: ActionOf<"initSecurity">, context: PerformContext): Promise<void> {
  // The second clean read: only what is absent twice is made.
  if (await context.engine().hasSecurityIndex())
    throw new EngineError("Another client has initialized security meanwhile.", { code: "conflict" });
  const created: readonly string[] = await context.engine().initSecurity(documents);
  const entities = digestsOf(entitiesOf(documents).filter(({ type }) => created.includes(type)));
  await record(context, (before) => ({ ...before, entities: { ...before.entities, ...entities } }));
}

/** Indices with other settings than the plugin's own, and a template of another client for them, are the author's choice. */
async function fitAuditIndex(_action: ActionOf<"fitAuditIndex">, context: PerformContext): Promise<void> {
  const { prefix, pattern, template } = auditIndex;
  const engine = context.engine();
  const indices = (await engine.indices())
    .filter(
      ({ name, replicas, isAutoExpanded }) => name.startsWith(prefix) && replicas === 1 && !isAutoExpanded,
    )
    .map(({ name }) => name);
  try {
    await engine.fitReplicas({ template, pattern, indices });
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "invalid") throw error;
  }
  await record(context, (before) => ({ ...before, isAuditFitted: true }));
}

/**
 * Writes entities one by one, in an order in which nothing refers to what is not there yet. Those that the engine refuses are named in
 * the end; what it took is recorded whatever happens to the others.
 */
async function putEntities({ entities }: ActionOf<"putEntities">, context: PerformContext): Promise<void> {
  const taken: WantedEntity[] = [];
  const refusals: string[] = [];
  try {
    for (const entity of entities) {
      const refusal = await putEntity(entity, context);
      if (refusal === undefined) taken.push(entity);
      else refusals.push(refusal);
    }
  } finally {
    if (taken.length > 0)
      await record(context, (before) => ({
        ...before,
        entities: { ...before.entities, ...digestsOf(taken) },
      }));
  }
  if (refusals.length === 0) return;
  const all = refusals.slice(0, 5).join("; ");
  throw new ExternalError(`The engine refused ${all}. The others are applied.`, {
    class: "refused",
    reason: searchReasons.securityRefused,
  });
}

/** The engine's refusal; undefined when it was accepted. Failures that may pass throw. */
async function putEntity(entity: WantedEntity, { engine }: PerformContext): Promise<string | undefined> {
  const { type, name, body } = entity;
  try {
    await engine().putEntity(type, name, body);
    return undefined;
  } catch (error) {
    const isRefused = error instanceof EngineError && (error.code === "invalid" || error.code === "notFound");
    if (!isRefused) throw error;
    return `${entityKey(entity)} (${printable(error.message)})`;
  }
}

/** Once per version of the password: a reconcile that lags behind queries again, and a second hash would be another one. */
async function hashPassword(
  { username, password, from }: ActionOf<"hashPassword">,
  context: PerformContext,
): Promise<void> {
  if ((await currentRecord(context)).hashes[username]?.from === from) return;
  const hash = context.hashOf({ account: username, version: from, password });
  // It is made beside the queue and brings the cluster back.
  if (hash === undefined) return;
  const made = { from, hash };
  await record(context, (before) => ({ ...before, hashes: { ...before.hashes, [username]: made } }));
}

/** Deletes an entity that is still as we wrote it; one that another client has changed since stays. */
async function deleteEntity(
  { type, name }: ActionOf<"deleteEntity">,
  context: PerformContext,
): Promise<void> {
  const { engine } = context;
  const live = (await engine().entities(type)).get(name);
  const before = await currentRecord(context);
  const key = entityKey({ type, name });
  if (live !== undefined && isAsWritten(live, before.entities[key])) await engine().deleteEntity(type, name);
  await record(context, (now) => {
    const { [key]: _dropped, ...entities } = now.entities;
    return { ...now, entities };
  });
}

/** The engine adds flags and empty lists, and hides hashes: what is written is compared with what it gives back without those. */
function isAsWritten(live: JsonObject, digest: string | undefined): boolean {
  const { static: _static, hidden: _hidden, ...fields } = live;
  if (digest === undefined) return false;
  return "hash" in fields || [fields, withoutDefaults(fields)].some((each) => digestOf(each) === digest);
}

function withoutDefaults(fields: JsonObject): JsonObject {
  const isDefault = (value: unknown): boolean =>
    value === false || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isDefault(value)));
}

async function currentRecord({ ctx, cluster }: PerformContext): Promise<AppliedContent> {
  const ref = { namespace: cluster.namespace, name: appliedName(cluster) };
  return readApplied(await ctx.client.find(secrets, ref));
}

/** Read live: several writes of one reconcile follow each other faster than the watch. */
async function record(
  context: PerformContext,
  change: (before: AppliedContent) => AppliedContent,
): Promise<void> {
  const { ctx, cluster } = context;
  const next = change(await currentRecord(context));
  await ctx.apply(secrets, {
    metadata: { name: appliedName(cluster), labels: labelsOf(cluster) },
    type: "Opaque",
    data: encode({ applied: JSON.stringify(next) }),
  });
}

const typeKey = "plugins.security.audit.type";

/** The index of the audit log: one per day, made by the security plugin with one replica, however many nodes there are. */
const auditIndex = {
  pattern: "security-auditlog-*",
  prefix: "security-auditlog-",
  template: "quartermaster-security-auditlog",
} as const;

/** Whether the author has the audit log written into an index of the cluster itself. */
export function hasAuditIndex({
  distribution,
  config,
  pools,
}: Pick<SearchCluster, "distribution" | "config" | "pools">): boolean {
  if (!distributionFacts[distribution].hasSecurityPlugin) return false;
  const types = [config, ...pools.map((pool) => pool.config)].map((settings) => settings[typeKey]);
  return types.includes("internal_opensearch");
}
