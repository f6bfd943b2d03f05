import { timestampOf } from "@quartermaster/runtime";

import { describePermission, type Permission } from "../permissions/permission.ts";
import { hasStarted, type PlanStatus } from "../progress.ts";
import type { Seen } from "../world/seen.ts";

/** What the plan's account may not do, as one sentence. */
export function describeLacking({ plan }: Pick<Seen, "plan">, missing: readonly Permission[]): string {
  return `Service account ${plan.spec.serviceAccountName} may not ${missing.map(describePermission).join("; ")}.`;
}

const missingLimit = 200;

/** The permissions that the account lacks, all of them. The time moves with the list only: asking again is no news. */
export function permissionsOf({ preflight, plan }: Seen, now: Date): PlanStatus["permissions"] {
  const { permissions: before } = plan.status ?? {};
  if (preflight === undefined) return hasStarted(plan) ? undefined : before;
  const missing = preflight.missingPermissions.slice(0, missingLimit);
  const isSame = JSON.stringify(before?.missing ?? []) === JSON.stringify(missing);
  const checkedAt = (isSame ? before?.checkedAt : undefined) ?? timestampOf(now);
  return { checkedAt, ...(missing.length === 0 ? {} : { missing }) };
}
