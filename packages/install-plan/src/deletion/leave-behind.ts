import type { InstallPlan } from "@quartermaster/api";
import { ApiError, type Context } from "@quartermaster/runtime";
import { namespaces } from "@quartermaster/runtime/kinds";

import type { ApplyParts } from "../apply/apply-member.ts";
import { describeIdentity, identityOf } from "../identity.ts";
import type { ObserverParts } from "../observe.ts";
import { performAction } from "../perform.ts";
import type { PlanAction, Target } from "../plan-action.ts";

/** What cleaning up needs besides the reconcile. */
export type CleanUpParts = ObserverParts & ApplyParts;

/** What a step is carried out with. */
export interface DeletionContext {
  readonly ctx: Context;
  readonly parts: CleanUpParts;
}

/** An object that the account may not touch, and what the server said. */
export interface Refusal {
  readonly target: Target;
  readonly said: string;
}

/** What the server said where the account lacks a permission; undefined when it lacked none. */
export async function refusalOf(
  action: PlanAction,
  { ctx, parts }: DeletionContext,
): Promise<string | undefined> {
  try {
    await performAction(action, ctx, parts);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.class === "forbidden") return error.message;
    throw error;
  }
}

/** The plan says so, or its whole namespace goes and it must not hold that up. */
export function isLettingGo(plan: InstallPlan, ctx: Context): boolean {
  return plan.spec.deletion.ifUnauthorized === "Orphan" || isHomeLeaving(plan, ctx);
}

/** Whether the plan's namespace is being deleted. */
export function isHomeLeaving({ metadata }: InstallPlan, ctx: Context): boolean {
  const home = ctx.store(namespaces).get({ name: metadata.namespace ?? "" });
  return home?.metadata.deletionTimestamp !== undefined;
}

/** Uids of what was refused before. Only in memory: a process that begins anew is refused again before it goes further. */
export function leftBehindBy(
  plan: InstallPlan,
  ctx: Context,
  { memories }: CleanUpParts,
): ReadonlySet<string> {
  return isLettingGo(plan, ctx) ? memories.of(plan).leftBehind : new Set();
}

/** What may not be deleted loses its owner labels where that is allowed, and is not tried again; everything else still goes. */
export async function leaveBehind(
  refusals: readonly Refusal[],
  plan: InstallPlan,
  hands: DeletionContext,
): Promise<void> {
  const [first] = refusals;
  if (first === undefined) return;
  const { leftBehind } = hands.parts.memories.of(plan);
  for (const { target } of refusals) {
    const said = await refusalOf({ kind: "release", plan, target }, hands);
    if (said !== undefined) leftBehind.add(target.live.metadata.uid ?? "");
  }
  const names = refusals.slice(0, 10).map(({ target }) => describeIdentity(identityOf(target.live)));
  const rest = refusals.length > names.length ? ` and ${refusals.length - names.length} more` : "";
  const note = `${names.join(", ")}${rest} are left in the cluster because ${first.said}`.slice(0, 1000);
  hands.ctx.events.record({ type: "Warning", reason: "Orphaned", action: "Orphan", note });
}
