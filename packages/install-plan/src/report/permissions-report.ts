import { timestampOf } from "@quartermaster/runtime";

import { describeRight, type Right } from "../permissions/rights.ts";
import { hasStarted, type PlanStatus } from "../progress.ts";
import type { Seen } from "../world/seen.ts";

/** What the plan's account may not do, as one sentence. */
export function describeLacking({ plan }: Pick<Seen, "plan">, missing: readonly Right[]): string {
  return `Service account ${plan.spec.serviceAccountName} may not ${missing.map(describeRight).join("; ")}.`;
}

const missingLimit = 200;

/** The rights that the account lacks, all of them. The time moves with the list only: asking again is no news. */
export function permissionsOf({ clearance, plan }: Seen, now: Date): PlanStatus["permissions"] {
  const { permissions: before } = plan.status ?? {};
  if (clearance === undefined) return hasStarted(plan) ? undefined : before;
  const missing = clearance.missingRights.slice(0, missingLimit);
  const isSame = JSON.stringify(before?.missing ?? []) === JSON.stringify(missing);
  const checkedAt = (isSame ? before?.checkedAt : undefined) ?? timestampOf(now);
  return { checkedAt, ...(missing.length === 0 ? {} : { missing }) };
}
