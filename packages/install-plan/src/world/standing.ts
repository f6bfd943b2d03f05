import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import { ourFields } from "../fields/managed-fields.ts";
import { isProven, markOn, planId, planIdLabel } from "../marks.ts";
import { isInstalled } from "../progress.ts";

/** Whose the object under a member's name is, as seen by a plan. */
export type Standing =
  | { readonly kind: "absent" }
  | { readonly kind: "mine" }
  /** Of a plan that this one replaces, or of a successor that is gone: to be taken over. */
  | { readonly kind: "inherited" }
  /** Nobody's, as far as marks and owner references tell. */
  | { readonly kind: "unowned" }
  | { readonly kind: "foreign"; readonly owner: string };

/** What decides whose an object is. */
export interface Family {
  readonly plan: InstallPlan;
  /** Ids of plans whose objects this one takes over. */
  readonly heirOf: ReadonlySet<string>;
  /** All plans there are, by id: namespace and name. */
  readonly living: Pick<ReadonlyMap<string, string>, "get">;
}

/** Judges by the marks on the object; a label without the proof that goes with it is no more than a label. */
export function standingOf(live: KubeObject | undefined, family: Family): Standing {
  if (live === undefined) return { kind: "absent" };
  const { plan, heirOf, living } = family;
  const mark = markOn(live);
  if (mark === undefined) return isStripped(live, plan) ? { kind: "mine" } : unmarked(live);
  if (mark === planId(plan.metadata)) return { kind: "mine" };
  if (heirOf.has(mark)) return { kind: "inherited" };
  const owner = living.get(mark);
  return owner === undefined ? unmarked(live) : { kind: "foreign", owner: describePlan(owner, plan) };
}

/** Who works in a namespace knows its plans. Those of others are not named: who may read the status may not read them. */
function describePlan(owner: string, { metadata: { namespace = "" } }: InstallPlan): string {
  return owner.startsWith(`${namespace}/`) ? `plan ${owner}` : "a plan of another namespace";
}

/** An object of an installed plan whose label somebody took off: any other plan would have put its own there. */
function isStripped(live: KubeObject, plan: InstallPlan): boolean {
  const hasLabel = live.metadata.labels?.[planIdLabel] !== undefined;
  return isInstalled(plan) && !hasLabel && isProven(live) && ourFields(live) !== undefined;
}

function unmarked({ metadata }: KubeObject): Standing {
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller === undefined) return { kind: "unowned" };
  return { kind: "foreign", owner: `${controller.kind} ${controller.name}` };
}
