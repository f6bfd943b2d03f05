import type { InstallPlan } from "@quartermaster/api";
import type { Context, ObjectRef } from "@quartermaster/runtime";

import { impersonationOf, isAllowed } from "../permissions/reviews.ts";
import { serviceAccounts } from "./kinds.ts";
import type { AccountView } from "./seen.ts";

/** Who made the plan, as the API server's own policy notes it; see config/policy/installplan-author.yaml. */
const authorAnnotation = "install.quartermaster.dev/author";
/** The groups of the author, one per line. */
const authorGroupsAnnotation = "install.quartermaster.dev/author-groups";

/** The account that a plan names: there, the one it was, and still at the disposal of the author of the plan. */
export async function readAccount(plan: InstallPlan, ctx: Context): Promise<AccountView> {
  const { metadata, status } = plan;
  const found = ctx.follow(serviceAccounts, accountOf(plan));
  if (found === undefined) return { kind: "missing" };
  const { uid = "" } = found.metadata;
  const pinned = status?.serviceAccountUid;
  if (pinned !== undefined && pinned !== uid) return { kind: "replaced", uid };
  const author = metadata.annotations?.[authorAnnotation];
  // Without the policy nobody has noted an author, and the permission to make plans is all there is.
  if (author === undefined || (await mayImpersonate(author, plan, ctx))) return { kind: "present", uid };
  return { kind: "authorUnauthorized", uid, author };
}

/** Whether the operator may act as the account of a plan; in some clusters that is given by namespace. */
export async function mayActAs(plan: InstallPlan, { client, signal }: Context): Promise<boolean> {
  return await isAllowed(client, impersonationOf(accountOf(plan)), { signal });
}

/** Asked in every reconcile: a permission that is taken away counts from the next write on. */
async function mayImpersonate(user: string, plan: InstallPlan, ctx: Context): Promise<boolean> {
  const groups = plan.metadata.annotations?.[authorGroupsAnnotation]?.split("\n") ?? [];
  const { client, signal } = ctx;
  return await isAllowed(client, impersonationOf(accountOf(plan)), { signal, subject: { user, groups } });
}

function accountOf({ metadata, spec }: InstallPlan): ObjectRef {
  return { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
}
