import { installPlan, type InstallPlan } from "@quartermaster/api";
import { type Context, inParallel, type Kind } from "@quartermaster/runtime";
import { jobs } from "@quartermaster/runtime/kinds";

import { asAccount, findAsAccount } from "../account/account.ts";
import { restoreOf } from "../confirmation/confirmation.ts";
import { type MemberStores, trackPlanKinds } from "../inventory/member-stores.ts";
import type { Content } from "../manifest/content.ts";
import { kindIn, type KindTable, tableKey, type TableKind } from "../manifest/kind-table.ts";
import type { Member } from "../model/member.ts";
import { isBoundByApproval, isInstalled } from "../model/plan-status.ts";
import { byPlanId, type OwnerLabels } from "../ownership/owner-labels.ts";
import type { OwnershipContext } from "../ownership/ownership.ts";
import type { PlanMemory } from "../plan-memory.ts";
import type { MemberView, Seen } from "../seen.ts";
import { blockOf } from "./block.ts";
import { type OutsideFacts, readHealthFacts, storageFacts } from "./health-facts.ts";
import { startedMembers } from "./member-states.ts";
import { memberView, type ViewFacts } from "./member-view.ts";
import { isOfCurrentStages } from "./served-content.ts";

export interface MembersQuery {
  readonly plan: InstallPlan;
  readonly content: Content;
  readonly kinds: KindTable;
  readonly replacement: Seen["replacement"];
  readonly memory: PlanMemory;
  readonly nowMs: number;
  readonly wallMs: number;
}

/** The members as they are in the cluster, and what shows them again after a dry run. */
export interface ObservedMembers {
  readonly stores: MemberStores;
  readonly context: OwnershipContext;
  readonly ownerLabels: OwnerLabels;
  readonly view: (member: Member) => MemberView;
  readonly members: readonly MemberView[];
}

/** Reads the objects of a plan from the watches of their kinds, and those without our labels one by one. */
export async function observeMembers(question: MembersQuery, ctx: Context): Promise<ObservedMembers> {
  const { plan, content, kinds, replacement, memory, nowMs, wallMs } = question;
  const ownerLabels: OwnerLabels = { plan, revision: replacement.revision };
  const isCurrent = isOfCurrentStages(plan);
  const current = content.members.filter(isCurrent);
  const later = content.members.filter((member) => !isCurrent(member));
  const stores = await trackPlanKinds(ctx, [...kindsOf(current, kinds), jobs], kindsOf(later, kinds));
  const health = { ...storageFacts(ctx), ...(await readHealthFacts(plan, content, ctx.client)) };
  const context = ownershipContextOf(plan, replacement, ctx);
  const isSuperseded = plan.status?.phase === "Superseded" || replacement.successor?.isDone === true;
  const base = { plan, isSuperseded, kinds, stores, memory, ctx };
  const started = startedMembers(plan, content);
  const view = viewer({ ...base, started, context, ownerLabels, nowMs, wallMs, health });
  await lookUpAbsent(content.members, base);
  return { stores, context, ownerLabels, view, members: content.members.map(view) };
}

/** The kinds of objects of the plan, as far as they are served. */
function kindsOf(members: readonly Member[], kinds: KindTable): readonly Kind[] {
  const names = new Set(members.map(({ identity }) => tableKey(identity.apiVersion, identity.kind)));
  return [...names].flatMap((name) => kinds.get(name) ?? []);
}

interface ViewerOptions {
  readonly plan: InstallPlan;
  /** Another plan has replaced it: nothing of it is missing or in conflict any more. */
  readonly isSuperseded: boolean;
  readonly started: ViewFacts["started"];
  readonly kinds: KindTable;
  readonly stores: MemberStores;
  readonly context: OwnershipContext;
  readonly ownerLabels: OwnerLabels;
  readonly memory: PlanMemory;
  readonly nowMs: number;
  readonly wallMs: number;
  readonly health: OutsideFacts;
  readonly ctx: Context;
}

function viewer(parts: ViewerOptions): (member: Member) => MemberView {
  const { plan, isSuperseded, started, kinds, stores, context, ownerLabels, memory, health, ctx } = parts;
  const kindOf = ({ identity }: Member): TableKind | undefined => kindIn(kinds, identity);
  const facts: ViewFacts = {
    context,
    ownerLabels,
    memory,
    isPlanInstalled: isInstalled(plan) && !isSuperseded,
    started,
    nowMs: parts.nowMs,
    wallMs: parts.wallMs,
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
  { takesOverFrom }: Seen["replacement"],
  ctx: Context,
): OwnershipContext {
  const store = ctx.store(installPlan.kind);
  const nameOf = ({ metadata }: InstallPlan): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  const living = { get: (id: string) => store.listBy(byPlanId, id).map(nameOf)[0] };
  return { plan, takesOverFrom, living, restore: restoreOf(plan, ctx) };
}

/** Groups that Kubernetes itself serves; CRDs may not use them without its community's leave. */
const ofKubernetes = /^(?:[a-z]+\.)?k8s\.io$|\.(?:apiserver|authorization|authentication)\.k8s\.io$/;

/**
 * Our watches show labelled objects only. What an installed plan misses may have lost its label, and what was in the way
 * before may be deleted: both have to be read, as the plan's account. A sure absence is remembered until the object is seen again.
 */
async function lookUpAbsent(
  members: readonly Member[],
  parts: Pick<ViewerOptions, "plan" | "isSuperseded" | "memory" | "stores" | "kinds" | "ctx">,
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
    const isPresent = memory.unlabelledObjects.get(member.key) !== undefined;
    const isWorthReading = isPresent || hasCollided(member, memory) || (!isKnown && isInstalled(plan));
    return isWorthReading ? [{ member, kind }] : [];
  });
  await inParallel(unseen, 16, async ({ member, kind }) => {
    const found = await findAsAccount(account, kind, member.identity);
    if (found === "unknown") return;
    memory.unlabelledObjects.set(member.key, found);
    // The object in the way is deleted, and the refusal with it.
    if (found === undefined && hasCollided(member, memory)) memory.writeFailures.delete(member.key);
  });
}

function hasCollided({ key }: Member, { writeFailures }: PlanMemory): boolean {
  return writeFailures.get(key)?.kind === "collision";
}
