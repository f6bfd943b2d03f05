import type { InstallPlan } from "@quartermaster/api";
import { fieldsAppliedBy, type KubeObject } from "@quartermaster/runtime";

import type { Confirmation } from "../confirmation/confirmation.ts";
import { hasStarted, isInstalled } from "../model/plan-status.ts";
import { claimedPlanId, claimedPlanName, fieldManager, isProven, planId, planIdOn } from "./owner-labels.ts";

/** Whose the object under a member's name is, as seen by a plan. */
export type Ownership =
  | { readonly kind: "absent" }
  | { readonly kind: "owned" }
  /** Of a plan that this one replaces, or of a successor that no longer exists: to be taken over. */
  | { readonly kind: "inherited" }
  /** Without an owner, according to owner labels and owner references. */
  | {
      readonly kind: "unowned";
      /** It bears labels of this plan that the plan did not put there. */
      readonly isForged?: true;
      /** It has labels of an earlier plan of this name; set where a user confirmed the restore, without effect. */
      readonly former?: Exclude<Confirmation, "given">;
    }
  | { readonly kind: "ownedByOther"; readonly owner: string };

export interface OwnershipContext {
  readonly plan: InstallPlan;
  /** Ids of plans whose objects this one takes over. */
  readonly takesOverFrom: ReadonlySet<string>;
  /** All plans there are, by id: namespace and name. */
  readonly living: Pick<ReadonlyMap<string, string>, "get">;
  /** Whether a user says that the plan was restored from a backup, with the objects that bear its labels (default: no). */
  readonly restore?: Confirmation;
}

/** Judges by the owner labels on the object; a label that no apply of ours put there is no more than a label. */
export function ownershipOf(live: KubeObject | undefined, context: OwnershipContext): Ownership {
  if (live === undefined) return { kind: "absent" };
  const { plan, takesOverFrom, living } = context;
  const position = planIdOn(live);
  if (position === undefined) return isStripped(live, plan) ? { kind: "owned" } : unowned(live, context);
  // Before its start a plan has written nothing, whatever a client does with its uid.
  if (position === planId(plan.metadata))
    return hasStarted(plan) ? { kind: "owned" } : unowned(live, context);
  if (takesOverFrom.has(position)) return { kind: "inherited" };
  const owner = living.get(position);
  return owner === undefined
    ? unowned(live, context)
    : { kind: "ownedByOther", owner: describePlan(owner, plan) };
}

/** Who works in a namespace knows its plans. Those of others are not named: who may read the status may not read them. */
function describePlan(owner: string, { metadata: { namespace = "" } }: InstallPlan): string {
  return owner.startsWith(`${namespace}/`) ? `plan ${owner}` : "a plan in another namespace";
}

/** An object of an installed plan whose label was removed: any other plan would have put its own there. */
function isStripped(live: KubeObject, plan: InstallPlan): boolean {
  const hasLabel = claimedPlanId(live) !== undefined;
  return (
    isInstalled(plan) && !hasLabel && isProven(live) && fieldsAppliedBy(live, fieldManager) !== undefined
  );
}

function unowned(live: KubeObject, context: OwnershipContext): Ownership {
  const controller = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller !== undefined)
    return { kind: "ownedByOther", owner: `${controller.kind} ${controller.name}` };
  const isForged = claimedPlanId(live) === planId(context.plan.metadata);
  if (!isForged && !isOfFormerSelf(live, context)) return { kind: "unowned" };
  const { restore = "none" } = context;
  // Labels alone prove nothing; that the plan was restored with them is a user's word.
  if (restore === "given") return isProven(live) ? { kind: "inherited" } : { kind: "unowned" };
  return isForged ? { kind: "unowned", isForged } : { kind: "unowned", former: restore };
}

/** Its labels name a plan of this name that no longer exists: perhaps this one, before it was restored from a backup. */
function isOfFormerSelf(live: KubeObject, { plan, living }: OwnershipContext): boolean {
  const claimed = claimedPlanId(live);
  if (claimed === undefined || living.get(claimed) !== undefined || !isProven(live)) return false;
  return claimedPlanName(live) === plan.metadata.name;
}
