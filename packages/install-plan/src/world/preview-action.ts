import { unreachable } from "@quartermaster/runtime";

import type { DryRun } from "../plan-memory.ts";
import { hasDrifted } from "./drift.ts";
import type { MemberView, PreviewAction } from "./seen.ts";

/** What would be done to an object, by what is known of it; undefined where a policy forbids to touch it. */
export function previewAction(view: MemberView, dryRun?: DryRun): PreviewAction | undefined {
  if (dryRun?.kind === "deferred" || view.blockedBy !== undefined) return "deferred";
  switch (view.ownership.kind) {
    case "absent":
      return view.isSuperseded === true ? "noop" : "create";
    case "owned":
      return hasDrifted(view.drift) ? "update" : "noop";
    case "inherited":
      return "takeover";
    case "unowned":
    case "ownedByOther":
      return mayAdopt(view) ? "adopt" : undefined;
    default:
      return unreachable(view.ownership);
  }
}

/** By the policy of the member, and within what an approval covers. */
function mayAdopt({ member: { lifecycle }, ownership, isUnapproved }: MemberView): boolean {
  const isAllowed =
    ownership.kind === "unowned" ? lifecycle.adoption !== "Never" : lifecycle.adoption === "Always";
  return isAllowed && isUnapproved !== true;
}

/** Whether the object has to be written for the plan to be carried out. */
export function needsWrite(view: MemberView): boolean {
  const action = previewAction(view);
  return action !== undefined && action !== "noop";
}
