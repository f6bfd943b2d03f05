import type { Why } from "@quartermaster/runtime";

import { needsWrite } from "../preflight/preview.ts";
import { reasons } from "../reasons.ts";
import type { MemberView, Seen } from "../seen.ts";

/** The writes of a stage that are due, and why the rest is not. */
export interface DueWrites {
  readonly due: readonly MemberView[];
  /** The reasons that block writes, each once. */
  readonly blocked: readonly Why[];
  /** Until the first write that failed in passing may be tried again. */
  readonly retryInMs?: number | undefined;
}

/** Namespaces and CRDs go before what needs them, whatever the author's order; otherwise the order is the author's. */
export function dueWrites(seen: Seen, stageIndex: number): DueWrites {
  const open = seen.members
    .filter(({ member }) => member.stageIndex <= stageIndex)
    .filter((view) => isOpen(view, seen.nowMs));
  const ordered = open.toSorted(
    (one, other) => one.member.stageIndex - other.member.stageIndex || rankOf(one) - rankOf(other),
  );
  const isStrict = (seen.plan.spec.stages[stageIndex]?.concurrency ?? 1) === 1;
  const firstHeld = ordered.findIndex((view) => heldBy(view, seen.nowMs) !== undefined);
  const candidates = isStrict && firstHeld !== -1 ? ordered.slice(0, firstHeld) : ordered;
  const due = candidates.filter((view) => heldBy(view, seen.nowMs) === undefined);
  const delays = open.flatMap(({ failure }) =>
    failure === undefined ? [] : [failure.notBeforeMs - seen.nowMs],
  );
  return {
    due,
    blocked: [
      ...new Map(
        ordered.flatMap((view) => heldBy(view, seen.nowMs) ?? []).map((why) => [why.message, why]),
      ).values(),
    ],
    ...(delays.length === 0 ? {} : { retryInMs: Math.max(0, Math.min(...delays)) }),
  };
}

/** To be written, not refused for good and not fought over. An object on its way out is waited for. */
function isOpen(view: MemberView, nowMs: number): boolean {
  const isRefused = view.failure !== undefined && view.failure.kind !== "transient";
  const isContested = view.revertConflict !== undefined && view.revertConflict.notBeforeMs > nowMs;
  return !isRefused && !isContested && (needsWrite(view) || view.blockedBy !== undefined);
}

function heldBy({ blockedBy, failure, live }: MemberView, nowMs: number): Why | undefined {
  if (blockedBy !== undefined) return blockedBy;
  if (failure !== undefined && failure.notBeforeMs > nowMs)
    return { reason: failure.reason, message: failure.message };
  if (live?.metadata.deletionTimestamp === undefined) return undefined;
  return { reason: reasons.waitingForDeletion, message: "an object is still being deleted" };
}

function rankOf({ member: { identity } }: MemberView): number {
  return identity.kind === "Namespace" || identity.kind === "CustomResourceDefinition" ? 0 : 1;
}
