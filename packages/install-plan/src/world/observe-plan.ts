import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  classify,
  type Context,
  defineIndex,
  type Discovery,
  type Kind,
  type System,
} from "@quartermaster/runtime";

import { asAccount } from "../account.ts";
import { inBatches } from "../in-batches.ts";
import { kindFinder } from "../manifest/read-content.ts";
import type { Member } from "../member.ts";
import { type OwnerLabels, planId } from "../owner-labels.ts";
import type { PlanMemories, PlanMemory } from "../plan-memory.ts";
import { attemptOf, hasStarted, isBoundByApproval, isInstalled } from "../progress.ts";
import { mayActAs, readAccount } from "./account-view.ts";
import { askServer } from "./ask-server.ts";
import { blockOf } from "./block-of.ts";
import { type ContentReader, manifestNames } from "./content-reader.ts";
import { retryInMs, stageElapsedMs } from "./elapsed-times.ts";
import { findAsAccount } from "./find-as-account.ts";
import { type OutsideFacts, readHealthFacts, storageFacts } from "./health-facts.ts";
import { askAboutJobs } from "./job-check.ts";
import { type JobView, jobViews } from "./job-view.ts";
import { jobs } from "./kinds.ts";
import { leftoverPermissions, readLeftovers } from "./leftovers.ts";
import { type MemberStores, trackPlanKinds } from "./member-stores.ts";
import { memberView, type ViewFacts } from "./member-view.ts";
import { lackingPermissions } from "./missing-permissions.ts";
import { isOwnJob } from "./own-job.ts";
import type { OwnershipContext } from "./ownership.ts";
import { preflightFrom } from "./preflight.ts";
import type { Replacement } from "./replacement.ts";
import type { Preflight, MemberView, Seen } from "./seen.ts";
import { isOfCurrentStages, readServedContent } from "./served-content.ts";
import { kindIn, type KindTable, tableKey, type TableKind } from "./served-kinds.ts";
import { siblingsOf } from "./siblings.ts";
import { authorizedReplacement } from "./takeover.ts";
import {
  isReadable,
  readTransformed,
  transformationIssues,
  transformationPermissions,
} from "./transformed.ts";
import { unwatchableOwnKinds } from "./unwatchable-kinds.ts";

/** What observing needs besides the reconcile. */
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
  memory.recallNamespaces(plan.status?.namespaces ?? []);
  const nowMs = parts.system.monotonicMs();
  const { kinds, content } = await readServedContent(plan, ctx, parts);
  const { replacement, takeover } = await authorizedReplacement(plan, siblingsOf(plan, ctx), ctx);
  const ownerLabels: OwnerLabels = { plan, revision: replacement.revision };
  const isCurrent = isOfCurrentStages(plan);
  const [current, later] = [
    content.members.filter(isCurrent),
    content.members.filter((member) => !isCurrent(member)),
  ];
  const stores = await trackPlanKinds(ctx, [...kindsOf(current, kinds), jobs], kindsOf(later, kinds));
  const health = { ...storageFacts(ctx), ...(await readHealthFacts(plan, content, ctx.client)) };
  const context = ownershipContextOf(plan, replacement, ctx);
  const isSuperseded = plan.status?.phase === "Superseded" || replacement.successor?.isDone === true;
  const view = viewer({
    plan,
    isSuperseded,
    kinds,
    stores,
    context,
    ownerLabels,
    memory,
    nowMs,
    health,
    ctx,
  });
  await lookUpAbsent(content.members, { plan, isSuperseded, memory, stores, kinds, ctx });
  const members = content.members.map(view);
  const account = await readAccount(plan, ctx, parts);
  const isUsable = account.kind === "present";
  const transformed = isUsable ? await readTransformed(plan, content, { ...parts, kinds, ctx }) : [];
  const issues = transformationIssues(transformed, context);
  const leftovers = await readLeftovers({ plan, content, replacement, ...parts, kinds, ctx });
  const { client, signal } = ctx;
  const unwatchable = await unwatchableOwnKinds({ plan, content, kinds, client, signal });
  const base = {
    plan,
    ownerLabels,
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
    ...(canAsk(base) ? await preflightAs(base, { ctx, memory, view, kinds }) : {}),
    manifests: manifestNames(plan).flatMap(
      (name) =>
        ctx.store(resourceManifest.kind).get({ namespace: plan.metadata.namespace ?? "", name }) ?? [],
    ),
    setbacks: [...memory.setbacks.values()],
    pinnedNamespaces: memory.pinnedNamespaces,
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
  | "ownerLabels"
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
  readonly isSuperseded: boolean;
  readonly kinds: KindTable;
  readonly stores: MemberStores;
  readonly context: OwnershipContext;
  readonly ownerLabels: OwnerLabels;
  readonly memory: PlanMemory;
  readonly nowMs: number;
  readonly health: OutsideFacts;
  readonly ctx: Context;
}

function viewer(parts: ViewerParts): (member: Member) => MemberView {
  const { plan, isSuperseded, kinds, stores, context, ownerLabels, memory, nowMs, health, ctx } = parts;
  const kindOf = ({ identity }: Member): TableKind | undefined => kindIn(kinds, identity);
  const facts: ViewFacts = {
    context,
    ownerLabels,
    memory,
    isInstalled: isInstalled(plan) && !isSuperseded,
    nowMs,
    kindOf,
    find: (member) => {
      const kind = kindOf(member);
      if (kind === undefined) return undefined;
      return stores.find(kind, member.identity) ?? memory.unlabelledObjects.get(member.key);
    },
    blockedBy: (member) => blockOf(member, { plan, kind: kindOf(member), stores, memory, ctx }),
    hasOwnStatus: (member) => {
      const { group = "", hasStatus = false } = kindOf(member) ?? {};
      return hasStatus && group.includes(".") && !ofKubernetes.test(group);
    },
    health,
    ...(isBoundByApproval(plan) ? { adoptable: new Set(plan.status?.pinned?.adoptions) } : {}),
  };
  return (member) => memberView(member, facts);
}

function ownershipContextOf(
  plan: InstallPlan,
  { takesOverFrom }: Replacement,
  ctx: Context,
): OwnershipContext {
  const store = ctx.store(installPlan.kind);
  const nameOf = ({ metadata }: InstallPlan): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  const living = { get: (id: string) => store.listBy(byPlanId, id).map(nameOf)[0] };
  return { plan, takesOverFrom, living };
}

/** Only objects with marks of another plan ask for it: no reconcile walks over all plans of the cluster. */
const byPlanId = defineIndex<InstallPlan>("plan id", ({ metadata }) => [planId(metadata)]);

/** Groups that Kubernetes itself serves; CRDs may not use them without its community's leave. */
const ofKubernetes = /^(?:[a-z]+\.)?k8s\.io$|\.(?:apiserver|authorization|authentication)\.k8s\.io$/;

/**
 * Our watches show marked objects only. What an installed plan misses may have lost its label, and what stood in the way
 * before may be gone: both have to be read, as the plan's account. A sure absence is remembered until the object is seen again.
 */
async function lookUpAbsent(
  members: readonly Member[],
  parts: Pick<ViewerParts, "plan" | "isSuperseded" | "memory" | "stores" | "kinds" | "ctx">,
): Promise<void> {
  const { plan, isSuperseded, memory, stores, kinds, ctx } = parts;
  if (isSuperseded) return;
  const account = asAccount(ctx.client, plan);
  const unseen = members.flatMap((member) => {
    const kind = kindIn(kinds, member.identity);
    if (kind === undefined || !stores.isWatched(kind)) return [];
    if (stores.find(kind, member.identity) !== undefined) {
      memory.unlabelledObjects.delete(member.key);
      return [];
    }
    const isKnown = memory.unlabelledObjects.has(member.key);
    const isWorthALook = isKnown ? memory.unlabelledObjects.get(member.key) !== undefined : isInstalled(plan);
    return isWorthALook ? [{ member, kind }] : [];
  });
  await inBatches(unseen, 16, async ({ member, kind }) => {
    const found = await findAsAccount(account, kind, member.identity);
    if (found !== "unknown") memory.unlabelledObjects.set(member.key, found);
  });
}

/** The server is asked only about what is sound in itself; that a namespace is missing is said once permissions were compared. */
function canAsk({ plan, content, account, replacement, takeover, unwatchable }: Base): boolean {
  return (
    !hasStarted(plan) &&
    content.unresolved.length === 0 &&
    content.issues.every(({ reason }) => reason === "NamespaceMissing") &&
    replacement.issues.length === 0 &&
    replacement.successor === undefined &&
    unwatchable.length === 0 &&
    // A preview would show what another author's plan holds.
    (takeover?.missing ?? []).length === 0 &&
    account.kind === "present"
  );
}

interface PreflightParts {
  readonly ctx: Context;
  readonly memory: PlanMemory;
  readonly view: (member: Member) => MemberView;
  readonly kinds: KindTable;
}

/** The first question that is asked as the account shows whether we may ask as it at all. */
async function preflightAs(
  base: Base,
  parts: PreflightParts,
): Promise<Pick<Seen, "preflight"> | Pick<Seen, "account">> {
  try {
    return { preflight: await readPreflight(base, parts) };
  } catch (error) {
    if (classify(error) !== "forbidden" || (await mayActAs(base.plan, parts.ctx))) throw error;
    const { account } = base;
    return { account: { kind: "impersonationDenied", uid: account.kind === "missing" ? "" : account.uid } };
  }
}

async function readPreflight(base: Base, { ctx, memory, view, kinds }: PreflightParts): Promise<Preflight> {
  const { plan, members, ownerLabels, content, replacement, nowMs } = base;
  const account = asAccount(ctx.client, plan);
  const findKind = kindFinder(content.provided, (apiVersion, kind) => kinds.get(tableKey(apiVersion, kind)));
  const missingPermissions = await lackingPermissions({
    plan,
    members: content.members,
    replacement,
    further: [...transformationPermissions(base.transformed, plan), ...leftoverPermissions(base.leftovers)],
    pluralOf: ({ identity }) => findKind(identity.apiVersion, identity.kind)?.plural,
    client: account,
    signal: ctx.signal,
  });
  const elapsedMs = memory.elapsedMs("preflight", nowMs);
  const mayTrustAbsence = plan.spec.approval === "Automatic";
  const parties = { account, operator: ctx.client };
  const question = { views: members, ownerLabels, memory, ...parties, mayTrustAbsence, viewOf: view };
  const isSound = content.issues.length === 0 && base.transformed.every(isReadable);
  const isAllowed = missingPermissions.length === 0 && isSound;
  // Whose an object is, is shown to an account that may read it; until then nothing is said of what is there.
  const findings = isAllowed ? await askServer(question) : [];
  const jobRuns = isAllowed ? await askAboutJobs({ ...base, memory, account }) : [];
  const preflight = preflightFrom(findings, { ...base, jobRuns, missingPermissions, elapsedMs });
  if (preflight.undecided.length === 0) memory.restart("preflight");
  return preflight;
}
