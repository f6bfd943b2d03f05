import { unreachable } from "@quartermaster/runtime";

import { hasDrifted } from "../drift/drift.ts";
import { finishing, hasStarted, isInstalled, type PlanStatus } from "../model/plan-status.ts";
import type { DryRun } from "../plan-memory.ts";
import type { MemberView, Preflight, PreviewAction, Seen } from "../seen.ts";

const detailLimit = 100;
type Preview = NonNullable<PlanStatus["preview"]>;

/** Planned writes, once the server was queried about all of them; undefined before. */
export function previewOf({ preflight, members }: Pick<Seen, "preflight" | "members">): Preview | undefined {
  if (preflight === undefined || preflight.missingPermissions.length > 0 || preflight.undecided.length > 0)
    return undefined;
  const { actions, digest } = preflight;
  const count = (wanted: PreviewAction): number => actions.filter((action) => action === wanted).length;
  const changes = members.flatMap(({ member }, index) => {
    const action = actions[index] ?? "noop";
    if (action === "noop") return [];
    return [{ stage: member.stage, index: member.index, object: member.identity, action }];
  });
  return {
    digest,
    create: count("create"),
    update: count("update"),
    adopt: count("adopt"),
    takeover: count("takeover"),
    recreate: count("recreate"),
    noop: count("noop"),
    delete: preflight.deletes.length,
    deferred: count("deferred"),
    // What goes comes first: it is what a user has to see before approving, however long the list is.
    details: [...deletionsOf(preflight), ...changes].slice(0, detailLimit),
  };
}

/** Deletions come when every stage is passed. */
function deletionsOf({ deletes }: Preflight): NonNullable<Preview["details"]> {
  return deletes.map((object, index) => ({ stage: finishing, index, object, action: "delete" }));
}

/** Planned write of an object, by the known facts; undefined where a policy forbids it. */
export function previewAction(view: MemberView, dryRun?: DryRun): PreviewAction | undefined {
  if (dryRun?.kind === "deferred" || view.blockedBy !== undefined) return "deferred";
  switch (view.ownership.kind) {
    case "absent":
      return view.isExpired === true ? "noop" : "create";
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

type DetailAction = NonNullable<NonNullable<PlanStatus["details"]>[number]["action"]>;

export function detailAction(view: MemberView, { plan }: Pick<Seen, "plan">): DetailAction {
  if (isInstalled(plan)) return steadyAction(view);
  const action = previewAction(view) ?? "conflict";
  return action === "delete" ? "noop" : action;
}

/** Adoption is for the first write only: an object that was taken from an installed plan stays with its owner. */
function steadyAction(view: MemberView): DetailAction {
  const { member, ownership, drift, blockedBy } = view;
  if (/^(?:unowned|ownedByOther)$/.test(ownership.kind)) return "conflict";
  if (blockedBy !== undefined) return "deferred";
  if (ownership.kind === "inherited") return "takeover";
  if (ownership.kind === "absent") return member.lifecycle.recreate ? "create" : "noop";
  return !isLeftAlone(view) && hasDrifted(drift) ? "update" : "noop";
}

function isLeftAlone({ member, live, exception }: MemberView): boolean {
  const isKept = member.lifecycle.revert === "Off" || exception?.kind === "active";
  return isKept || live?.metadata.deletionTimestamp !== undefined;
}

export type ApprovalFacts = Pick<Seen, "plan" | "preflight" | "members">;

/**
 * State of the approval of a plan: `missing` waits for one, `outdated` has one for another preview than the present one.
 * Without a fresh preview it is compared with the last one.
 */
export function approvalOf(facts: ApprovalFacts): "automatic" | "given" | "missing" | "outdated" {
  const { plan } = facts;
  const { approval, approved } = plan.spec;
  if (approval === "Automatic") return "automatic";
  if (hasStarted(plan)) return "given";
  if (!approved) return "missing";
  const present = previewOf(facts)?.digest ?? plan.status?.preview?.digest;
  return coveredPreview(facts) === present ? "given" : "outdated";
}

/**
 * The digest of the preview that the approval covers. An approval that names none covers the preview that the status showed
 * when it was first seen, and no later one; at creation that is the first preview. Undefined while there is no preview.
 */
export function coveredPreview(facts: ApprovalFacts): string | undefined {
  const { spec, status } = facts.plan;
  if (spec.approval === "Automatic" || !spec.approved) return undefined;
  return (
    spec.approvedPreview ?? status?.approvedPreview ?? status?.preview?.digest ?? previewOf(facts)?.digest
  );
}
