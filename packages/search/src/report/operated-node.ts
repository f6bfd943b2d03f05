import { isDeepStrictEqual } from "node:util";

import type { LaneDecision } from "../lane.ts";
import type { Seen } from "../seen.ts";

/** What the open operation makes of the report. */
export interface OperatedNode {
  /** The node that we took down. It counts as away from then until the operation ends: users wait for its end, not for each look at it. */
  readonly away: string | undefined;
  /** The operation is at the step that the status names already. */
  readonly isSameStep: boolean;
}

/** Reads the operation as it will be in the status. */
export function operatedNode(
  { status }: Pick<Seen, "status">,
  decisions: readonly LaneDecision[],
): OperatedNode {
  const { intent } = decisions.find(({ lane }) => lane === "nodes") ?? {};
  const operation = intent !== undefined && "operation" in intent ? intent.operation : status.operation;
  return {
    away: operation?.step === "Await" ? operation.node : undefined,
    isSameStep: operation !== undefined && isDeepStrictEqual(operation, status.operation),
  };
}

const healths: readonly string[] = ["green", "yellow", "red", "unknown"];

/** During a step what gets worse is said at once, and what gets better with the next step: copies come back one by one. */
export function healthDuring(
  { isSameStep }: OperatedNode,
  { before, now }: { readonly before: string | undefined; readonly now: string },
): string {
  if (!isSameStep || before === undefined) return now;
  return healths.indexOf(now) < healths.indexOf(before) ? before : now;
}
