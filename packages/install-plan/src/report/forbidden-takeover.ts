import type { Why } from "@quartermaster/runtime";

import { describePermission } from "../permissions/permission.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../world/seen.ts";

const namedAtMost = 5;

/** Why the plan may not take over from the plans that it names; undefined when it may. */
export function whyNoTakeover({ takeover }: Seen): Why | undefined {
  if (takeover === undefined || takeover.missing.length === 0) return undefined;
  const { subject, missing } = takeover;
  const rest = missing.length > namedAtMost ? `; and ${missing.length - namedAtMost} more` : "";
  const permissions = `${missing.slice(0, namedAtMost).map(describePermission).join("; ")}${rest}`;
  const message = `To take over from a plan, the author of the new plan, or else its service account, must be allowed to delete it: ${subject} may not ${permissions}.`;
  return { reason: reasons.permissionsMissing, message: message.slice(0, 1024) };
}
