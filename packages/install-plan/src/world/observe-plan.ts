import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  classify,
  type Context,
  type Discovery,
  type Kind,
  type KubeObject,
  type System,
} from "@quartermaster/runtime";

import { asAccount } from "../account.ts";
import { inBatches } from "../in-batches.ts";
import { kindFinder } from "../manifest/read-content.ts";
import { type Marker, planId } from "../marks.ts";
import type { Member } from "../member.ts";
import type { PlanMemories, PlanMemory } from "../plan-memory.ts";
import { attemptOf, hasStarted, isInstalled } from "../progress.ts";
import { mayActAs, readAccount } from "./account-view.ts";
import { askServer } from "./ask-server.ts";
import { blockOf } from "./block-of.ts";
import { clearanceFrom } from "./clearance.ts";
import { type ContentReader, manifestNames } from "./content-reader.ts";
import { retryInMs, stageElapsedMs } from "./elapsed-times.ts";
import { type OutsideFacts, readHealthFacts, storageFacts } from "./health-facts.ts";
import { askAboutJobs } from "./job-check.ts";
import { type JobView, jobViews } from "./job-view.ts";
import { jobs } from "./kinds.ts";
import { leftoverRights, readLeftovers } from "./leftovers.ts";
import { type MemberStores, trackPlanKinds } from "./member-stores.ts";
import { memberView, type ViewFacts } from "./member-view.ts";
import { lackingRights } from "./missing-rights.ts";
import { isOwnJob } from "./own-job.ts";
import type { Replacement } from "./replacement.ts";
import type { Clearance, MemberView, Seen } from "./seen.ts";
import { nearIn, readServedContent } from "./served-content.ts";
import { kindIn, type KindTable, tableKey, type TableKind } from "./served-kinds.ts";
import { siblingsOf } from "./siblings.ts";
import type { Family } from "./standing.ts";
import { authorizedReplacement } from "./takeover.ts";
import { readTransformed, transformationIssues, transformationRights } from "./transformed.ts";
import { unwatchableOwnKinds } from "./unwatchable-kinds.ts";

/** What observing needs besides the pass. */
export interface ObserverParts {
  readonly system: System;
  readonly discovery: Discovery;
  readonly memories: PlanMemories;
  readonly contents: ContentReader;
  /** Nothing is done for plans whose author is not recorded. */
  readonly requireAuthor: boolean;
}

/** Reads everything that the rules need. Writes nothing, and asks the server only what its watches cannot tell. */
export async function observePlan(plan: InstallPlan, ctx: Context, parts: ObserverParts): Promise<Seen> {
  const memory = parts.memories.of(plan);
  memory.recallHomes(plan.status?.namespaces ?? []);
  const nowMs = parts.system.monotonicMs();
  const { kinds, content } = await readServedContent(plan, ctx, parts);
  const { replacement, takeover } = await authorizedReplacement(plan, siblingsOf(plan, ctx), ctx);
  const marker: Marker = { plan, revision: replacement.revision };
  const isNear = nearIn(plan);
  const [near, far] = [content.members.filter(isNear), content.members.filter((member) => !isNear(member))];
  const stores = await trackPlanKinds(ctx, [...kindsOf(near, kinds), jobs], kindsOf(far, kinds));
  const health = { ...storageFacts(ctx), ...(await readHealthFacts(plan, content, ctx.client)) };
  const family = familyOf(plan, replacement, ctx);
  const isOver = plan.status?.phase === "Superseded" || replacement.successor?.isDone === true;
  const view = viewer({ plan, isOver, kinds, stores, family, marker, memory, nowMs, health, ctx });
  await lookUpAbsent(content.members, { plan, isOver, memory, stores, kinds, ctx });
  const members = content.members.map(view);
  const account = await readAccount(plan, ctx, parts);
  const transformed = await readTransformed(plan, content, { ...parts, kinds, ctx });
  const issues = transformed.flatMap((each) => transformationIssues(each, family));
  const leftovers = await readLeftovers({ plan, content, replacement, ...parts, kinds, ctx });
  const { client, signal } = ctx;
  const unwatchable = await unwatchableOwnKinds({ plan, content, kinds, client, signal });
  const base = {
    plan,
    marker,
    content,
    members,
    account,
    unwatchable: [...stores.forbidden, ...unwatchable],
    replacement,
    takeover,
    transformed,
    transformationIssues: issues,
    leftovers,
    jobs: jobsOf(plan, stores, { memory, nowMs }),
    nowMs,
  };
  return {
    ...base,
    ...(canAsk(base) ? await clearedAs(base, { ctx, memory, view, kinds }) : {}),
    manifests: manifestNames(plan).flatMap(
      (name) =>
        ctx.store(resourceManifest.kind).get({ namespace: plan.metadata.namespace ?? "", name }) ?? [],
    ),
    setbacks: [...memory.setbacks.values()],
    homes: memory.homes,
    stageElapsedMs: stageElapsedMs(plan, memory, parts.system),
    retryInMs: retryInMs(plan, memory, nowMs),
  };
}

function jobsOf(
  plan: InstallPlan,
  stores: MemberStores,
  { memory, nowMs }: Pick<ViewerParts, "memory" | "nowMs">,
): readonly JobView[] {
  return jobViews({
    plan,
    planAttempt: attemptOf(plan),
    find: (name) => {
      const found = stores.find(jobs, { namespace: plan.metadata.namespace ?? "", name });
      return found !== undefined && isOwnJob(found, plan) ? found : undefined;
    },
    elapsedMs: (name) => memory.elapsedMs(`job/${name}`, nowMs),
  });
}

type Base = Pick<
  Seen,
  | "plan"
  | "marker"
  | "content"
  | "members"
  | "account"
  | "unwatchable"
  | "replacement"
  | "takeover"
  | "transformed"
  | "transformationIssues"
  | "leftovers"
  | "jobs"
  | "nowMs"
>;

/** The kinds of objects of the plan, as far as they are served. */
function kindsOf(members: readonly Member[], kinds: KindTable): readonly Kind[] {
  const names = new Set(members.map(({ identity }) => tableKey(identity.apiVersion, identity.kind)));
  return [...names].flatMap((name) => kinds.get(name) ?? []);
}

interface ViewerParts {
  readonly plan: InstallPlan;
  /** Another plan has replaced it: nothing of it is missing or in conflict any more. */
  readonly isOver: boolean;
  readonly kinds: KindTable;
  readonly stores: MemberStores;
  readonly family: Family;
  readonly marker: Marker;
  readonly memory: PlanMemory;
  readonly nowMs: number;
  readonly health: OutsideFacts;
  readonly ctx: Context;
}

function viewer(parts: ViewerParts): (member: Member) => MemberView {
  const { plan, isOver, kinds, stores, family, marker, memory, nowMs, health, ctx } = parts;
  const kindOf = ({ identity }: Member): TableKind | undefined => kindIn(kinds, identity);
  const facts: ViewFacts = {
    family,
    marker,
    memory,
    isInstalled: isInstalled(plan) && !isOver,
    nowMs,
    kindOf,
    find: (member) => {
      const kind = kindOf(member);
      if (kind === undefined) return undefined;
      return stores.find(kind, member.identity) ?? memory.sightings.get(member.key);
    },
    blockedBy: (member) => blockOf(member, { plan, kind: kindOf(member), stores, memory, ctx }),
    hasOwnStatus: (member) => {
      const { group = "", hasStatus = false } = kindOf(member) ?? {};
      return hasStatus && group.includes(".") && !ofKubernetes.test(group);
    },
    health,
  };
  return (member) => memberView(member, facts);
}

function familyOf(plan: InstallPlan, { heirOf }: Replacement, ctx: Context): Family {
  const plans = ctx.store(installPlan.kind).list();
  const living = new Map(
    plans.map(({ metadata }) => [planId(metadata), `${metadata.namespace ?? ""}/${metadata.name}`]),
  );
  return { plan, heirOf, living };
}

/** Groups that Kubernetes itself serves; CRDs may not use them without its community's leave. */
const ofKubernetes = /^(?:[a-z]+\.)?k8s\.io$|\.(?:apiserver|authorization|authentication)\.k8s\.io$/;

/**
 * Our watches show marked objects only. What an installed plan misses may have lost its label, and what stood in the way
 * before may be gone: both have to be read. A sure absence is remembered until the object is seen again.
 */
async function lookUpAbsent(
  members: readonly Member[],
  parts: Pick<ViewerParts, "plan" | "isOver" | "memory" | "stores" | "kinds" | "ctx">,
): Promise<void> {
  const { plan, isOver, memory, stores, kinds, ctx } = parts;
  if (isOver) return;
  const unseen = members.flatMap((member) => {
    const kind = kindIn(kinds, member.identity);
    if (kind === undefined || !stores.isWatched(kind)) return [];
    if (stores.find(kind, member.identity) !== undefined) {
      memory.sightings.delete(member.key);
      return [];
    }
    const isKnown = memory.sightings.has(member.key);
    const isWorthALook = isKnown ? memory.sightings.get(member.key) !== undefined : isInstalled(plan);
    return isWorthALook ? [{ member, kind }] : [];
  });
  await inBatches(unseen, 16, async ({ member, kind }) => {
    const found = await findServed(ctx, kind, member);
    if (found !== "notServed") memory.sightings.set(member.key, found);
  });
}

/** The kind may have gone with its CRD since discovery was read: then nothing is sure. */
async function findServed(
  ctx: Context,
  kind: Kind,
  { identity }: Member,
): Promise<KubeObject | undefined | "notServed"> {
  try {
    return await ctx.client.find(kind, identity);
  } catch (error) {
    if (classify(error) === "notFound") return "notServed";
    throw error;
  }
}

/** The server is asked only about what is sound in itself. */
function canAsk({ plan, content, account, replacement, takeover, unwatchable }: Base): boolean {
  return (
    !hasStarted(plan) &&
    content.unresolved.length === 0 &&
    content.issues.length === 0 &&
    replacement.issues.length === 0 &&
    replacement.successor === undefined &&
    unwatchable.length === 0 &&
    // A preview would show what another author's plan holds.
    (takeover?.missing ?? []).length === 0 &&
    account.kind === "present"
  );
}

interface ClearanceParts {
  readonly ctx: Context;
  readonly memory: PlanMemory;
  readonly view: (member: Member) => MemberView;
  readonly kinds: KindTable;
}

/** The first question that is asked as the account shows whether we may ask as it at all. */
async function clearedAs(
  base: Base,
  parts: ClearanceParts,
): Promise<Pick<Seen, "clearance"> | Pick<Seen, "account">> {
  try {
    return { clearance: await readClearance(base, parts) };
  } catch (error) {
    if (classify(error) !== "forbidden" || (await mayActAs(base.plan, parts.ctx))) throw error;
    const { account } = base;
    return { account: { kind: "beyondUs", uid: account.kind === "missing" ? "" : account.uid } };
  }
}

async function readClearance(base: Base, { ctx, memory, view, kinds }: ClearanceParts): Promise<Clearance> {
  const { plan, members, marker, content, replacement, nowMs } = base;
  const account = asAccount(ctx.client, plan);
  const findKind = kindFinder(content.provided, (apiVersion, kind) => kinds.get(tableKey(apiVersion, kind)));
  const missingRights = await lackingRights({
    plan,
    members: content.members,
    replacement,
    further: [...transformationRights(base.transformed), ...leftoverRights(base.leftovers)],
    pluralOf: ({ identity }) => findKind(identity.apiVersion, identity.kind)?.plural,
    client: account,
    operator: ctx.client,
    signal: ctx.signal,
  });
  const elapsedMs = memory.elapsedMs("clearance", nowMs);
  const mayTrustAbsence = plan.spec.approval === "Automatic";
  const parties = { account, operator: ctx.client };
  const question = { views: members, marker, memory, ...parties, mayTrustAbsence, viewOf: view };
  const isAllowed = missingRights.length === 0;
  const findings = isAllowed ? await askServer(question) : members.map((member) => ({ view: member }));
  const jobRuns = isAllowed ? await askAboutJobs({ ...base, memory, account }) : [];
  const clearance = clearanceFrom(findings, { ...base, jobRuns, missingRights, elapsedMs });
  if (clearance.undecided.length === 0) memory.restart("clearance");
  return clearance;
}
