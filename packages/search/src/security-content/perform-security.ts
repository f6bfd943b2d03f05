import { digestOf, ExternalError, type JsonObject, printable, unreachable } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";

import type { SecurityDocuments } from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import { labelsOf } from "../marks.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import { encode } from "../secret-text.ts";
import type { Subject } from "../subject.ts";
import { auditIndex } from "./audit-index.ts";
import { appliedName, readApplied } from "./observe-security.ts";
import type { AppliedContent } from "./security-seen.ts";
import { digestsOf, entitiesOf, entityKey, type WantedEntity } from "./wanted-content.ts";

const securityActions = [
  "initSecurity",
  "hashPassword",
  "putEntities",
  "deleteEntity",
  "fitAuditIndex",
] as const;

type SecurityAction = Extract<SearchAction, { readonly do: (typeof securityActions)[number] }>;

/** Whether an action is about users and roles. */
export function isSecurityAction(action: SearchAction): action is SecurityAction {
  return securityActions.some((each) => each === action.do);
}

/** One write. What was applied is recorded after it: a crash between repeats it, which changes nothing. */
export async function performSecurity(action: SecurityAction, subject: Subject): Promise<void> {
  switch (action.do) {
    case "initSecurity":
      // The second clean read: only what is absent twice is made.
      if (await subject.engine().hasSecurityIndex())
        throw new EngineError("Another client has initialized security meanwhile.", { code: "conflict" });
      await initSecurity(action.documents, subject);
      return;
    case "hashPassword":
      await hashPassword(action, subject);
      return;
    case "putEntities":
      await putEntities(action.entities, subject);
      return;
    case "deleteEntity":
      await dropEntity(action, subject);
      return;
    case "fitAuditIndex":
      await fitAuditIndex(subject);
      return;
    default:
      unreachable(action);
  }
}

/**
 * Documents that an earlier attempt left may hold what was declared then: only what was made now is recorded as applied, and the rest is
 * merged later.
 */
async function initSecurity(documents: SecurityDocuments, subject: Subject): Promise<void> {
  const created: readonly string[] = await subject.engine().initSecurity(documents);
  const entities = digestsOf(entitiesOf(documents).filter(({ type }) => created.includes(type)));
  await record(subject, (before) => ({ ...before, entities: { ...before.entities, ...entities } }));
}

/** Indices with other settings than the plugin's own, and a template of somebody else for them, are the author's choice. */
async function fitAuditIndex(subject: Subject): Promise<void> {
  const { prefix, pattern, template } = auditIndex;
  const engine = subject.engine();
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
  await record(subject, (before) => ({ ...before, isAuditFitted: true }));
}

/**
 * Writes entities one by one, in an order in which nothing refers to what is not there yet. Those that the engine refuses are named in
 * the end; what it took is recorded whatever happens to the others.
 */
async function putEntities(entities: readonly WantedEntity[], subject: Subject): Promise<void> {
  const taken: WantedEntity[] = [];
  const refusals: string[] = [];
  try {
    for (const entity of entities) {
      const refusal = await putEntity(entity, subject);
      if (refusal === undefined) taken.push(entity);
      else refusals.push(refusal);
    }
  } finally {
    if (taken.length > 0)
      await record(subject, (before) => ({
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

/** What the engine said against it; undefined when it was taken. Failures that may pass throw. */
async function putEntity(entity: WantedEntity, { engine }: Subject): Promise<string | undefined> {
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

/** Once per version of the password: a look that lags behind asks again, and a second hash would be another one. */
async function hashPassword(
  { username, password, from }: Extract<SearchAction, { readonly do: "hashPassword" }>,
  subject: Subject,
): Promise<void> {
  if ((await currentRecord(subject)).hashes[username]?.from === from) return;
  const hash = subject.hashOf({ account: username, version: from, password });
  // It is made beside the queue and brings the cluster back.
  if (hash === undefined) return;
  const made = { from, hash };
  await record(subject, (before) => ({ ...before, hashes: { ...before.hashes, [username]: made } }));
}

/** Deletes what is still as we wrote it; what somebody has changed since is theirs and stays. */
async function dropEntity(
  { type, name }: Extract<SearchAction, { readonly do: "deleteEntity" }>,
  subject: Subject,
): Promise<void> {
  const { engine } = subject;
  const live = (await engine().entities(type)).get(name);
  const before = await currentRecord(subject);
  const key = entityKey({ type, name });
  if (live !== undefined && isAsWritten(live, before.entities[key])) await engine().deleteEntity(type, name);
  await record(subject, (now) => {
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

async function currentRecord({ ctx, cluster }: Subject): Promise<AppliedContent> {
  const ref = { namespace: cluster.namespace, name: appliedName(cluster) };
  return readApplied(await ctx.client.find(secrets, ref));
}

/** Read live: several writes of one reconcile follow each other faster than the watch. */
async function record(subject: Subject, change: (before: AppliedContent) => AppliedContent): Promise<void> {
  const { ctx, cluster } = subject;
  const next = change(await currentRecord(subject));
  await ctx.apply(secrets, {
    metadata: { name: appliedName(cluster), labels: labelsOf(cluster) },
    type: "Opaque",
    data: encode({ applied: JSON.stringify(next) }),
  });
}
