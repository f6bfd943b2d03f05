import { unreachable, type Why } from "@quartermaster/runtime";

import { reasons } from "../reasons.ts";
import type { AccountView } from "../world/seen.ts";

/** Why nothing may be written as the account. */
export function whyUnusable(account: Exclude<AccountView, { readonly kind: "present" }>, name: string): Why {
  switch (account.kind) {
    case "missing":
      return {
        reason: reasons.serviceAccountMissing,
        message: `Service account ${name} does not exist; create it.`,
      };
    case "replaced":
      return {
        reason: reasons.serviceAccountReplaced,
        message: `Service account ${name} was deleted and recreated; create a new plan that uses it.`,
      };
    case "impersonationDenied":
      return {
        reason: reasons.notOptedIn,
        message: `The operator may not impersonate service account ${name}: bind ClusterRole quartermaster-plans to it in this namespace.`,
      };
    case "authorUnknown":
      return {
        reason: reasons.authorUnknown,
        message: account.isRecorded
          ? "The groups of the plan's author cannot be read; create the plan again."
          : "No author of the plan is recorded, and the operator requires one; apply config/policy and create the plan again.",
      };
    case "authorUnauthorized":
      return {
        reason: reasons.authorizationLost,
        message: `${account.author}, the author of the plan, may no longer impersonate service account ${name}.`,
      };
    default:
      return unreachable(account);
  }
}
