import { hasStarted } from "../model/plan-status.ts";
import type { Seen } from "../seen.ts";

/** The plan that has replaced a plan for good. */
export interface SupersededBy {
  readonly name: string;
  readonly uid: string;
  /** It no longer exists; the plan that it replaced does not come back. */
  readonly isGone: boolean;
}

/**
 * Who has replaced the plan; undefined while it is in force or only being replaced. What never wrote anything is replaced as soon as
 * somebody takes over; and who was replaced once stays so.
 */
export function supersededBy({
  plan,
  replacement,
}: Pick<Seen, "plan" | "replacement">): SupersededBy | undefined {
  const { successor } = replacement;
  const { phase, replacedBy } = plan.status ?? {};
  const isDone = successor !== undefined && (successor.isDone || !hasStarted(plan));
  if (!isDone && phase !== "Superseded") return undefined;
  const { name, uid } = successor ?? replacedBy ?? { name: "", uid: "" };
  return { name, uid, isGone: successor === undefined };
}

/** The same as a sentence. */
export function describeSuperseded({ name, isGone }: SupersededBy): string {
  return isGone
    ? `Plan ${name} replaced this plan and has been deleted since.`
    : `Plan ${name} replaced this plan.`;
}
