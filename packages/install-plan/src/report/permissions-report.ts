import { timestampOf } from "@quartermaster/runtime";

import type { PlanStatus } from "../progress.ts";
import type { Seen } from "../world/seen.ts";

const missingLimit = 200;

/** The permissions that the account lacks, all of them. The time moves with the list only: asking again is no news. */
export function permissionsOf({ preflight, plan }: Seen, now: Date): PlanStatus["permissions"] {
  const { permissions: before, startedAt } = plan.status ?? {};
  if (preflight === undefined) return startedAt === undefined ? before : undefined;
  const missing = preflight.missingPermissions.slice(0, missingLimit);
  const isSame = JSON.stringify(before?.missing ?? []) === JSON.stringify(missing);
  const checkedAt = (isSame ? before?.checkedAt : undefined) ?? timestampOf(now);
  return { checkedAt, ...(missing.length === 0 ? {} : { missing }) };
}
