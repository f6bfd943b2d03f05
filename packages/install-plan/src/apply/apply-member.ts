import type { InstallPlan } from "@quartermaster/api";
import {
  ApiError,
  classify,
  type Client,
  type Context,
  definedFields,
  fieldsAppliedBy,
  type Kind,
  type KubeObject,
  type System,
  unownedPaths,
} from "@quartermaster/runtime";

import { asAccount, findAsAccount } from "../account/account.ts";
import { noteRestoration, reportRepair } from "../drift/repairs.ts";
import { takeOverAdditions } from "../drift/take-over-additions.ts";
import { describeIdentity } from "../model/identity.ts";
import type { Member } from "../model/member.ts";
import { type WriteFailure, writeFailureFrom } from "../model/write-failure.ts";
import { appliedManifest } from "../ownership/applied-manifest.ts";
import { fieldManager, type OwnerLabels } from "../ownership/owner-labels.ts";
import type { ActionOf } from "../plan-action.ts";
import { planMemory, type PlanMemory } from "../plan-memory.ts";
import type { PlanObserver } from "../plan-metrics.ts";
import { canBeMade, mayRecreate } from "../preflight/dry-run-on-server.ts";
import { isImmutable, withVersion } from "../preflight/dry-run.ts";
import { reasons } from "../reasons.ts";
import type { MemberView, Seen } from "../seen.ts";

export interface ApplyOptions {
  readonly system: System;
  readonly observer?: PlanObserver | undefined;
}

/** One object, one write. The first write of an object is never forced; on one that is ours only our fields are. */
export async function applyMember(
  { view, isRepair }: ActionOf<"apply">,
  ctx: Context,
  { plan, ownerLabels, system, observer = {} }: ApplyOptions & Pick<Seen, "plan" | "ownerLabels">,
): Promise<void> {
  const { kind, member } = view;
  if (kind === undefined) return;
  const memory = ctx.memory(planMemory);
  const client = asAccount(ctx.client, plan);
  try {
    const { written, isIntrusion } = await write(view, kind, { client, ownerLabels });
    if (isIntrusion) {
      await giveBack(kind, written, client);
      memory.unlabelledObjects.set(member.key, written);
      if (!mayAdopt(member, written)) memory.writeFailures.set(member.key, collision(member));
      return;
    }
    remember(member, written, { ownerLabels, memory });
    noteRestoration(view, memory, system.monotonicMs());
    if (!isRepair) return;
    reportRepair(view, ctx);
    observer.repaired?.(view.ownership.kind === "absent" ? "recreated" : "reverted");
  } catch (error) {
    if (await replaceImmutable(error, view, { client, ownerLabels })) return;
    await noteWriteFailure(error, view, { plan, ctx, memory, nowMs: system.monotonicMs() });
  }
}

interface Written {
  readonly written: KubeObject;
  /** Another client created the object between our read and our write. */
  readonly isIntrusion: boolean;
}

interface Writer {
  readonly client: Client;
  readonly ownerLabels: OwnerLabels;
}

async function write(
  { member, live, drift }: MemberView,
  kind: Kind,
  { client, ownerLabels }: Writer,
): Promise<Written> {
  const current =
    live !== undefined && drift.additions.length > 0
      ? await takeOverAdditions({ member, live, kind }, client)
      : live;
  let isNew = false;
  const written = await client.apply(
    kind,
    withVersion(appliedManifest(member, ownerLabels, current), current),
    {
      fieldManager,
      force: current !== undefined,
      onCreated: () => {
        isNew = true;
      },
    },
  );
  return { written, isIntrusion: current === undefined && !isNew };
}

/** Withdraws the fields that only we own; what the other one made stays as it was. With its uid: without it, one that no longer exists would be made, empty. */
async function giveBack(
  kind: Kind,
  { apiVersion, kind: kindName, metadata }: KubeObject,
  client: Client,
): Promise<void> {
  const { name, namespace, uid } = metadata;
  const bare = { apiVersion, kind: kindName, metadata: definedFields({ name, namespace, uid }) };
  await client.apply(kind, bare, { fieldManager, force: false });
}

function mayAdopt({ lifecycle: { adoption } }: Member, { metadata }: KubeObject): boolean {
  const isControlled = metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false;
  return adoption === "Always" || (adoption === "IfUnowned" && !isControlled);
}

function collision({ identity }: Member): WriteFailure {
  return {
    action: "apply",
    kind: "collision",
    reason: reasons.collision,
    message: `${describeIdentity(identity)} was created by another client; adoption: IfUnowned takes it over.`,
    count: 1,
    notBeforeMs: 0,
    triedAtMs: 0,
  };
}

/** Fields that the server did not give us although it took the object, it drops: they are no drift. */
function remember(
  member: Member,
  written: KubeObject,
  { ownerLabels, memory }: { readonly ownerLabels: OwnerLabels; readonly memory: PlanMemory },
): void {
  memory.writeFailures.delete(member.key);
  memory.unlabelledObjects.delete(member.key);
  const paths = unownedPaths(
    appliedManifest(member, ownerLabels, written),
    fieldsAppliedBy(written, fieldManager) ?? {},
  );
  if (paths.length > 0) memory.dropped.set(member.key, { digest: member.digest, paths });
  else memory.dropped.delete(member.key);
}

interface Notes {
  readonly plan: InstallPlan;
  readonly ctx: Context;
  readonly memory: PlanMemory;
  readonly nowMs: number;
}

/**
 * The change needs a field that cannot be changed, and the plan allows a new object: the old one goes once a dry run has
 * shown that the new one would be taken. The next reconcile makes it.
 */
async function replaceImmutable(
  error: unknown,
  { member, kind, live }: MemberView,
  { client, ownerLabels }: Writer,
): Promise<boolean> {
  if (!isImmutable(error) || !mayRecreate(member)) return false;
  if (kind === undefined || live?.metadata.uid === undefined) return false;
  if (!(await canBeMade({ member, kind }, ownerLabels, client))) return false;
  // Only as it was seen: one that has changed since, or lost its owner labels, is observed again first.
  const { uid, resourceVersion = "" } = live.metadata;
  await client.deleteIfPresent(kind, live.metadata, {
    propagation: "Background",
    preconditions: { uid, resourceVersion },
    skipIfChanged: true,
  });
  return true;
}

async function noteWriteFailure(
  error: unknown,
  { member, kind, live }: MemberView,
  { plan, ctx, memory, nowMs }: Notes,
): Promise<void> {
  const errorClass = classify(error);
  if (!(error instanceof ApiError) || errorClass === "aborted") throw error;
  // Unforced, and another client's fields: the object exists without our owner labels.
  if (errorClass === "conflict" && live === undefined && kind !== undefined) {
    const found = await findAsAccount(asAccount(ctx.client, plan), kind, member.identity);
    if (found !== "unknown") memory.unlabelledObjects.set(member.key, found);
  }
  const before = memory.writeFailures.get(member.key);
  const facts = { identity: member.identity, count: (before?.count ?? 0) + 1, nowMs };
  memory.writeFailures.set(member.key, { action: "apply", ...writeFailureFrom(error, facts) });
  ctx.log.info("object not written", {
    object: describeIdentity(member.identity),
    code: errorClass,
    plan: plan.metadata.name,
  });
}
