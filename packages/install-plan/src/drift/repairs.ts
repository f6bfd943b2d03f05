import { type Context, unreachable } from "@quartermaster/runtime";

import { describeIdentity } from "../model/identity.ts";
import type { PlanMemory } from "../plan-memory.ts";
import { isWorthAnotherTry } from "../retry/retry.ts";
import type { MemberView, Seen } from "../seen.ts";
import { hasDrifted } from "./drift.ts";

/** Objects to be written again, according to their lifecycle policies. */
export function dueRepairs(seen: Seen): readonly MemberView[] {
  return seen.members.filter((view) => isRepairDue(view, seen));
}

/** Namespaces and CRDs go before what needs them. */
export function nextRepairs(due: readonly MemberView[]): readonly MemberView[] {
  const first = due.filter(({ member }) =>
    /^(?:Namespace|CustomResourceDefinition)$/.test(member.identity.kind),
  );
  return first.length > 0 ? first : due;
}

/** Nothing is done to what is leaving, blocked, or was tried just now. */
function isRepairDue(view: MemberView, seen: Seen): boolean {
  const { blockedBy, revertConflict, live } = view;
  if (blockedBy !== undefined || live?.metadata.deletionTimestamp !== undefined) return false;
  const notBeforeMs = Math.max(restUntilMs(view, seen), revertConflict?.notBeforeMs ?? 0);
  return notBeforeMs <= seen.nowMs && isRepairWanted(view);
}

function restUntilMs({ failure }: MemberView, seen: Seen): number {
  return failure === undefined || isWorthAnotherTry(failure, seen) ? 0 : failure.notBeforeMs;
}

/** According to the lifecycle policy of the member. */
function isRepairWanted({
  member: { lifecycle },
  drift,
  isExpired,
  exception,
  ...view
}: MemberView): boolean {
  switch (view.ownership.kind) {
    case "absent":
      return lifecycle.recreate && isExpired !== true;
    case "inherited":
      return true;
    case "owned":
      return lifecycle.revert !== "Off" && exception?.kind !== "active" && hasDrifted(drift);
    // Restored from a backup, say: taken back where the plan may adopt.
    case "unowned":
      return view.ownership.isForged === true && lifecycle.adoption !== "Never";
    case "ownedByOther":
      return false;
    default:
      return unreachable(view.ownership);
  }
}

/** Remembers that a change of another client was overwritten, also while the plan is being applied. */
export function noteRestoration(
  { member, drift, ownership }: MemberView,
  memory: PlanMemory,
  atMs: number,
): void {
  if (ownership.kind === "ownedByOther")
    memory.reverts.note(member.key, { manager: ownership.owner, atMs, isTakeover: true });
  else if (ownership.kind === "owned" && hasDrifted(drift))
    memory.reverts.note(member.key, { manager: drift.manager ?? anotherClient, atMs });
}

/** Where the server does not say who changed an object. */
const anotherClient = "another client";

/** The event about a repair. */
export function reportRepair({ member, drift, ownership }: MemberView, ctx: Context): void {
  const name = describeIdentity(member.identity);
  if (ownership.kind === "absent") {
    ctx.events.record({
      type: "Normal",
      reason: "Recreated",
      action: "Recreate",
      note: `${name} was deleted and has been recreated.`,
    });
    return;
  }
  const { manager = anotherClient } = drift;
  const paths = [...drift.paths, ...drift.additions].slice(0, 5).join(", ");
  ctx.events.record({
    type: "Normal",
    reason: "Reverted",
    action: "Revert",
    note: `${name} was changed by ${manager}: ${paths}`,
  });
}
