import { installPlan, type InstallPlan } from "@quartermaster/api";
import {
  classify,
  type CleanUpEnd,
  type Context,
  type Outcome,
  settled,
  stalled,
  waiting,
} from "@quartermaster/runtime";

import { describeIdentity } from "../identity.ts";
import { identityKey } from "../identity.ts";
import { isCrd } from "../manifest/provided-kinds.ts";
import { isMarkedBy } from "../marks.ts";
import type { ApplyParts } from "../perform/apply-member.ts";
import { performAction } from "../perform/performer.ts";
import { hasStarted } from "../progress.ts";
import { reasons } from "../reasons.ts";
import { inventoryOf } from "../world/inventory.ts";
import { customResourceDefinitions, jobs, namespaces, serviceAccounts } from "../world/kinds.ts";
import { trackKinds } from "../world/member-stores.ts";
import { memberKinds, type ObserverParts } from "../world/observe-plan.ts";
import { replacementOf } from "../world/replacement.ts";
import { readKindTable, tableKey } from "../world/served-kinds.ts";
import { decideDeletion, type DeletionStep, type Remaining } from "./decide-deletion.ts";
import { protectionOf } from "./protection.ts";

/** What cleaning up needs besides the pass. */
export type CleanUpParts = ObserverParts & ApplyParts;

const orphanFinalizer = "orphan";
const lookAgainMs = 5_000;

/** Takes away what the plan made, as its knobs say. Works from every phase, and shows what is in its way. */
export async function cleanUpPlan(
  plan: InstallPlan,
  ctx: Context,
  parts: CleanUpParts,
): Promise<Outcome | CleanUpEnd> {
  if (!hasStarted(plan) || plan.status?.phase === "Superseded") return settled();
  const remaining = await readRemaining(plan, ctx, parts);
  const elapsedMs = parts.memories.of(plan).elapsedMs("deletion", parts.system.monotonicMs());
  const permit = permitFor(plan, ctx);
  if (permit.kind === "letGo" && remaining.length > 0) return letGo(remaining, permit.why, ctx);
  const { timeoutSeconds, onTimeout } = plan.spec.deletion;
  const isLate = timeoutSeconds > 0 && elapsedMs > timeoutSeconds * 1000;
  const isReleasing =
    (plan.metadata.finalizers ?? []).includes(orphanFinalizer) || (isLate && onTimeout === "Orphan");
  const step = decideDeletion({ plan, remaining, isReleasing });
  if (permit.kind === "blocked" && !step.isDone) return blocked({ plan, step, remaining }, permit.why);
  return await carryOut({ plan, step, remaining }, ctx, parts);
}

interface Plight {
  readonly plan: InstallPlan;
  readonly step: DeletionStep;
  readonly remaining: readonly Remaining[];
}

async function carryOut(
  { plan, step, remaining }: Plight,
  ctx: Context,
  parts: CleanUpParts,
): Promise<Outcome | CleanUpEnd> {
  if (step.isDone) return settled();
  tellProtected(step, remaining, ctx);
  const open = step.actions.values();
  const refusals: string[] = [];
  const worker = async (): Promise<void> => {
    for (const action of open) {
      try {
        await performAction(action, ctx, parts);
      } catch (error) {
        if (classify(error) !== "forbidden") throw error;
        refusals.push(error instanceof Error ? error.message : "");
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(step.inFlight, step.actions.length) }, worker));
  const [refusal] = refusals;
  if (refusal === undefined) return underWay({ plan, step, remaining });
  if (plan.spec.deletion.ifUnauthorized === "Orphan") return letGo(remaining, refusal, ctx);
  return blocked({ plan, step, remaining }, refusal);
}

/** What the plan leaves behind because others have data in it. */
function tellProtected({ actions }: DeletionStep, remaining: readonly Remaining[], ctx: Context): void {
  const released = new Set(
    actions.flatMap((action) => (action.kind === "release" ? [action.target.live] : [])),
  );
  for (const { identity, live, protectedBy } of remaining) {
    if (protectedBy === undefined || !released.has(live)) continue;
    const note = `${describeIdentity(identity)} stays: ${protectedBy}.`;
    ctx.events.record({ type: "Warning", reason: "Protected", action: "Orphan", note });
  }
}

/** Events bring us back as objects go; a look every few seconds is for those that no event tells of. */
function underWay({ plan, step, remaining }: Plight): CleanUpEnd {
  const [blocker] = step.blockedBy;
  const isBlocked = blocker !== undefined && step.actions.length === 0;
  const message = isBlocked
    ? `${describeIdentity(identityIn(blocker.object))} is kept by its finalizers ${(blocker.finalizers ?? []).join(", ")}.`
    : "Removes what the plan made.";
  const reason = isBlocked ? reasons.deletionBlocked : reasons.deleting;
  return endOf({
    plan,
    step,
    remaining,
    outcome: waiting({ reason, message }, lookAgainMs),
    isBlocked,
    message,
    reason,
  });
}

function blocked({ plan, step, remaining }: Plight, why: string): CleanUpEnd {
  const message = `Service account ${plan.spec.serviceAccountName} cannot delete what is left: ${why}`;
  const reason = reasons.deletionBlocked;
  return endOf({
    plan,
    step,
    remaining,
    outcome: stalled({ reason, message }, 30_000),
    isBlocked: true,
    message,
    reason,
  });
}

/** What the status said before stays: without it a plan that has begun would look like one that never did. */
function endOf({ plan, step, remaining, outcome, isBlocked, message, reason }: Ending): CleanUpEnd {
  return {
    outcome,
    status: {
      ...plan.status,
      phase: "Deleting",
      message,
      deletion: {
        remaining: remaining.length,
        ...(step.blockedBy.length === 0 ? {} : { blockedBy: step.blockedBy.slice(0, 20) }),
      },
    },
    conditions: [{ type: "DeletionBlocked", status: isBlocked ? "True" : "False", reason, message }],
  };
}

interface Ending {
  readonly plan: InstallPlan;
  readonly step: DeletionStep;
  readonly remaining: readonly Remaining[];
  readonly outcome: Outcome;
  readonly isBlocked: boolean;
  readonly message: string;
  readonly reason: string;
}

function letGo(remaining: readonly Remaining[], why: string, ctx: Context): Outcome {
  const names = remaining.slice(0, 10).map(({ identity }) => describeIdentity(identity));
  ctx.events.record({
    type: "Warning",
    reason: "Orphaned",
    action: "Orphan",
    note: `${remaining.length} objects stay behind, because ${why}: ${names.join(", ")}`,
  });
  return settled();
}

type Permit = { readonly kind: "fine" } | { readonly kind: "blocked" | "letGo"; readonly why: string };

/** Without its account a plan can delete nothing; when its whole namespace goes it must not hold that up. */
function permitFor({ metadata, spec }: InstallPlan, ctx: Context): Permit {
  const { namespace = "" } = metadata;
  const isThere = ctx.store(serviceAccounts).get({ namespace, name: spec.serviceAccountName }) !== undefined;
  if (isThere) return { kind: "fine" };
  const why = `service account ${spec.serviceAccountName} does not exist`;
  const isNamespaceLeaving =
    ctx.store(namespaces).get({ name: namespace })?.metadata.deletionTimestamp !== undefined;
  const isLettingGo = isNamespaceLeaving || spec.deletion.ifUnauthorized === "Orphan";
  return { kind: isLettingGo ? "letGo" : "blocked", why };
}

/** What still bears the plan's marks, without what a plan after it or before it names. */
async function readRemaining(
  plan: InstallPlan,
  ctx: Context,
  parts: CleanUpParts,
): Promise<readonly Remaining[]> {
  const kinds = await readKindTable(parts.discovery, ctx.signal);
  const content = await parts.contents.read(plan, ctx, kinds);
  const spared = await sparedKeys(plan, ctx, parts);
  const inventory = inventoryOf(plan, content, kinds);
  const lostKinds = inventory.flatMap(
    ({ identity }) => kinds.get(tableKey(identity.apiVersion, identity.kind)) ?? [],
  );
  const stores = await trackKinds(ctx, [...memberKinds(content, kinds), ...lostKinds, jobs]);
  const found: Remaining[] = [];
  for (const entry of inventory) {
    const kind = kinds.get(tableKey(entry.identity.apiVersion, entry.identity.kind));
    const live = kind === undefined ? undefined : stores.find(kind, entry.identity);
    if (kind === undefined || live === undefined || spared.has(entry.key)) continue;
    if (!isMarkedBy(live, plan.metadata)) continue;
    const isCustomResource = [...content.provided.values()].some(
      (provided) =>
        provided.plural === kind.plural &&
        kind.group !== customResourceDefinitions.group &&
        !isCrd(entry.identity),
    );
    const protectedBy = await protectionOf({ entry, kind, live, plan }, ctx);
    found.push({
      ...entry,
      kind,
      live,
      isCustomResource,
      ...(protectedBy === undefined ? {} : { protectedBy }),
    });
  }
  return found;
}

/** In the middle of a handover: what the other plan names is no longer ours to take away. */
async function sparedKeys(
  plan: InstallPlan,
  ctx: Context,
  parts: CleanUpParts,
): Promise<ReadonlySet<string>> {
  const siblings = ctx
    .store(installPlan.kind)
    .list()
    .filter(({ metadata }) => metadata.namespace === plan.metadata.namespace);
  const { predecessors, successor } = replacementOf(plan, siblings);
  const heirs = siblings.filter(({ metadata }) => metadata.uid === successor?.uid);
  const returning = predecessors.flatMap((predecessor) =>
    predecessor.state === "Releasing" && predecessor.plan !== undefined ? [predecessor.plan] : [],
  );
  const kinds = await readKindTable(parts.discovery, ctx.signal);
  const keys = new Set<string>();
  for (const other of [...heirs, ...returning]) {
    if (other.metadata.deletionTimestamp !== undefined) continue;
    const content = await parts.contents.read(other, ctx, kinds);
    for (const { identity } of inventoryOf(other, content, kinds)) keys.add(identityKey(identity));
  }
  return keys;
}

function identityIn({
  namespace,
  ...rest
}: DeletionStep["blockedBy"][number]["object"]): Parameters<typeof describeIdentity>[0] {
  return { ...rest, ...(namespace === undefined ? {} : { namespace }) };
}
