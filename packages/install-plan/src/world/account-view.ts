import type { InstallPlan } from "@quartermaster/api";
import { type Context, type ObjectRef, reviewAccess } from "@quartermaster/runtime";

import { type Author, authorOf } from "../author.ts";
import { impersonationOf } from "../permissions/reviews.ts";
import { serviceAccounts } from "./kinds.ts";
import type { AccountView } from "./seen.ts";

/** The account that a plan names: there, the one it was, and still at the disposal of the author of the plan. */
export async function readAccount(
  plan: InstallPlan,
  ctx: Context,
  { requireAuthor }: { readonly requireAuthor: boolean },
): Promise<AccountView> {
  const { status } = plan;
  const found = ctx.follow(serviceAccounts, accountOf(plan));
  if (found === undefined) return { kind: "missing" };
  const { uid = "" } = found.metadata;
  const pinned = status?.serviceAccountUid;
  if (pinned !== undefined && pinned !== uid) return { kind: "replaced", uid };
  return await vouchedFor(plan, uid, { ctx, requireAuthor });
}

interface Vouching {
  readonly ctx: Context;
  readonly requireAuthor: boolean;
}

async function vouchedFor(
  plan: InstallPlan,
  uid: string,
  { ctx, requireAuthor }: Vouching,
): Promise<AccountView> {
  const author = authorOf(plan);
  if (author === "unreadable") return { kind: "authorUnknown", uid, isRecorded: true };
  if (author === undefined && requireAuthor) return { kind: "authorUnknown", uid, isRecorded: false };
  // Without the policy no author is recorded, and the permission to make plans is all there is.
  if (author === undefined || (await mayImpersonate(author, plan, ctx))) return { kind: "present", uid };
  return { kind: "authorUnauthorized", uid, author: author.user };
}

/** Whether the operator may act as the account of a plan; in some clusters that is given by namespace. */
export async function mayActAs(plan: InstallPlan, { client, signal }: Context): Promise<boolean> {
  return await reviewAccess(client, impersonationOf(accountOf(plan)), { signal });
}

/** Asked in every reconcile: a permission that is taken away counts from the next write on. */
async function mayImpersonate(author: Author, plan: InstallPlan, ctx: Context): Promise<boolean> {
  const { client, signal } = ctx;
  return await reviewAccess(client, impersonationOf(accountOf(plan)), { signal, subject: author });
}

function accountOf({ metadata, spec }: InstallPlan): ObjectRef {
  return { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
}
