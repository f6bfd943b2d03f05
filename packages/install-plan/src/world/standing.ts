import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import { ourFields } from "../fields/managed-fields.ts";
import { claimedMark, isProven, markOn, planId } from "../marks.ts";
import { hasStarted, isInstalled } from "../progress.ts";

/** Whose the object under a member's name is, as seen by a plan. */
export type Standing =
  | { readonly kind: "absent" }
  | { readonly kind: "mine" }
  /** Of a plan that this one replaces, or of a successor that is gone: to be taken over. */
  | { readonly kind: "inherited" }
  /** Nobody's, as far as marks and owner references tell. */
  | {
      readonly kind: "unowned";
      /** It bears labels of this plan that the plan did not put there. */
      readonly isForged?: true;
    }
  | { readonly kind: "foreign"; readonly owner: string };

/** What decides whose an object is. */
export interface Family {
  readonly plan: InstallPlan;
  /** Ids of plans whose objects this one takes over. */
  readonly heirOf: ReadonlySet<string>;
  /** All plans there are, by id: namespace and name. */
  readonly living: ReadonlyMap<string, string>;
}

/** Judges by the marks on the object; a label that no apply of ours put there is no more than a label. */
export function standingOf(live: KubeObject | undefined, family: Family): Standing {
  if (live === undefined) return { kind: "absent" };
  const { plan, heirOf, living } = family;
  const mark = markOn(live);
  if (mark === undefined) return isStripped(live, plan) ? { kind: "mine" } : unmarked(live, plan);
  // Before its start a plan has written nothing, whatever somebody makes of its uid.
  if (mark === planId(plan.metadata)) return hasStarted(plan) ? { kind: "mine" } : unmarked(live, plan);
  if (heirOf.has(mark)) return { kind: "inherited" };
  const owner = living.get(mark);
  return owner === undefined ? unmarked(live, plan) : { kind: "foreign", owner: `plan ${owner}` };
}

/** An object of an installed plan whose label somebody took off: any other plan would have put its own there. */
function isStripped(live: KubeObject, plan: InstallPlan): boolean {
  const hasLabel = claimedMark(live) !== undefined;
  return isInstalled(plan) && !hasLabel && isProven(live) && ourFields(live) !== undefined;
}

function unmarked(live: KubeObject, plan: InstallPlan): Standing {
  const controller = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller !== undefined) return { kind: "foreign", owner: `${controller.kind} ${controller.name}` };
  return claimedMark(live) === planId(plan.metadata)
    ? { kind: "unowned", isForged: true }
    : { kind: "unowned" };
}
