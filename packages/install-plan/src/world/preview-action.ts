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
      return view.member.lifecycle.adoption === "Never" ? undefined : "adopt";
    case "ownedByOther":
      return view.member.lifecycle.adoption === "Always" ? "adopt" : undefined;
    default:
      return unreachable(view.ownership);
  }
}

/** Whether the object has to be written for the plan to be carried out. */
export function needsWrite(view: MemberView): boolean {
  const action = previewAction(view);
  return action !== undefined && action !== "noop";
}
