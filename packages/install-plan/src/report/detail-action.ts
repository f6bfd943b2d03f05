import { isInstalled, type PlanStatus } from "../progress.ts";
import { hasDrifted } from "../world/drift.ts";
import { previewAction } from "../world/preview-action.ts";
import type { MemberView, Seen } from "../world/seen.ts";

type DetailAction = NonNullable<NonNullable<PlanStatus["details"]>[number]["action"]>;

/** What the plan does to an object next, according to its lifecycle policy. */
export function detailAction(view: MemberView, { plan }: Pick<Seen, "plan">): DetailAction {
  if (isInstalled(plan)) return steadyAction(view);
  const action = previewAction(view) ?? "conflict";
  return action === "delete" ? "noop" : action;
}

/** Adoption is for the first write only: what somebody took from an installed plan is theirs. */
function steadyAction({ member, ownership, drift, live, blockedBy }: MemberView): DetailAction {
  if (/^(?:unowned|ownedByOther)$/.test(ownership.kind)) return "conflict";
  if (blockedBy !== undefined) return "deferred";
  if (ownership.kind === "inherited") return "takeover";
  if (ownership.kind === "absent") return member.lifecycle.recreate ? "create" : "noop";
  const isLeft = member.lifecycle.revert === "Off" || live?.metadata.deletionTimestamp !== undefined;
  return !isLeft && hasDrifted(drift) ? "update" : "noop";
}
