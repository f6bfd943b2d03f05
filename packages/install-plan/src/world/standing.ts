import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import { isMarkedBy, ownerMarkOf } from "../marks.ts";

/** Whose the object under a member's name is, as seen by a plan. */
export type Standing =
  | { readonly kind: "absent" }
  | { readonly kind: "mine" }
  /** Of a plan that this one replaces, or of a successor that is gone: to be taken over. */
  | { readonly kind: "inherited"; readonly from: string }
  /** Nobody's, as far as marks and owner references tell. */
  | { readonly kind: "unowned" }
  | { readonly kind: "foreign"; readonly owner: string };

/** What decides whose an object is. */
export interface Family {
  readonly plan: InstallPlan;
  /** Uids of plans whose objects this one takes over. */
  readonly heirOf: ReadonlySet<string>;
  /** Uids of all plans there are. */
  readonly living: ReadonlySet<string>;
}

/** Judges by the proof on the object; a label without proof is no more than a label. */
export function standingOf(live: KubeObject | undefined, { plan, heirOf, living }: Family): Standing {
  if (live === undefined) return { kind: "absent" };
  const mark = ownerMarkOf(live);
  // A label that was stripped leaves the proof, and the object ours.
  if (isMarkedBy(live, plan) || mark?.uid === plan.metadata.uid) return { kind: "mine" };
  if (mark !== undefined && heirOf.has(mark.uid)) return { kind: "inherited", from: mark.plan };
  if (mark !== undefined && living.has(mark.uid)) return { kind: "foreign", owner: `plan ${mark.plan}` };
  const controller = live.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (controller !== undefined) return { kind: "foreign", owner: `${controller.kind} ${controller.name}` };
  return { kind: "unowned" };
}
