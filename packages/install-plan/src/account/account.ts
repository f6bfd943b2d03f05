import type { InstallPlan } from "@quartermaster/api";
import {
  classify,
  type Client,
  type Context,
  type Kind,
  type KubeObject,
  type ObjectRef,
  type RecordedAuthor,
  ownIdentity,
  recordedAuthor,
  reviewAccess,
  subjectFlag,
  unreachable,
  type Why,
} from "@quartermaster/runtime";
import { serviceAccounts } from "@quartermaster/runtime/kinds";

import { trustOf } from "../confirmation/confirmation.ts";
import { impersonationOf } from "../permissions/rules-review.ts";
import { reasons } from "../reasons.ts";

/** The account that everything is written with. */
export type AccountView =
  | { readonly kind: "present"; readonly uid: string }
  | { readonly kind: "missing" }
  /** Deleted and made again under the same name: not the one that was vouched for, and no confirmation of it counts. */
  | { readonly kind: "replaced"; readonly uid: string; readonly isUnguarded?: true }
  /** The operator may not act as it: the namespace has not opted in. */
  | { readonly kind: "impersonationDenied"; readonly uid: string; readonly remedy: string }
  /** Who made the plan cannot be read, or is not recorded although the operator requires it. */
  | { readonly kind: "authorUnknown"; readonly uid: string; readonly isRecorded: boolean }
  /** the author of the plan may no longer act as it. */
  | { readonly kind: "authorUnauthorized"; readonly uid: string; readonly author: string };

/** The account that a plan names: there, the one it was, and still at the disposal of the author of the plan. */
export async function readAccount(
  plan: InstallPlan,
  ctx: Context,
  { requireAuthor }: { readonly requireAuthor: boolean },
): Promise<AccountView> {
  const { status } = plan;
  const found = ctx.follow(serviceAccounts, accountOf(plan));
  if (found === undefined) return { kind: "missing" };
  const { uid } = found.metadata;
  const pinned = status?.serviceAccountUid;
  const trust = pinned === undefined || pinned === uid ? "given" : trustOf(plan, uid, ctx);
  if (trust !== "given")
    return { kind: "replaced", uid, ...(trust === "unguarded" ? { isUnguarded: true } : {}) };
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

/** The command that lets the operator act as the accounts of the plan's namespace; it names the operator's own account. */
export async function optInRemedy(plan: InstallPlan, { client, signal }: Context): Promise<string> {
  const { namespace } = accountOf(plan);
  const subject = subjectFlag(await ownIdentity(client, { signal }));
  return `to let the operator run plans in this namespace, run kubectl create rolebinding quartermaster-plans --namespace ${namespace} --clusterrole quartermaster-plans ${subject}`;
}

/** Reviewed in every reconcile: a permission that is taken away counts from the next write on. */
async function mayImpersonate(author: Author, plan: InstallPlan, ctx: Context): Promise<boolean> {
  const { client, signal } = ctx;
  return await reviewAccess(client, impersonationOf(accountOf(plan)), { signal, subject: author });
}

function accountOf({ metadata, spec }: InstallPlan): ObjectRef {
  return { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
}

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
        message: account.isUnguarded
          ? `Service account ${name} was deleted and recreated; that it is trusted does not count until config/policy/installplan-confirmations.yaml is applied.`
          : `Service account ${name} was deleted and recreated; to trust the new one, run qm plan trust.`,
      };
    case "impersonationDenied":
      return {
        reason: reasons.notOptedIn,
        message: `The operator may not impersonate service account ${name}; ${account.remedy}.`,
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

/** Who made a plan, as a subject of access reviews. */
export type Author = RecordedAuthor;

/** The user who made the plan, as the policy in config/policy records it; see `recordedAuthor`. */
export function authorOf(plan: InstallPlan): Author | "unreadable" | undefined {
  return recordedAuthor(plan, {
    user: "install.quartermaster.dev/author",
    groups: "install.quartermaster.dev/author-groups",
  });
}

/** The same connection with the permissions of the plan's account and no others; the server adds the groups of accounts itself. */
export function asAccount(client: Client, { metadata, spec }: InstallPlan): Client {
  return client.as({ user: `system:serviceaccount:${metadata.namespace ?? ""}:${spec.serviceAccountName}` });
}

/**
 * The object as the plan's account sees it; the client speaks as the account. Unknown where the account may not read it, or
 * where the kind went with its CRD since discovery was read: then neither presence nor absence is sure.
 */
export async function findAsAccount(
  account: Client,
  kind: Kind,
  ref: ObjectRef,
): Promise<KubeObject | undefined | "unknown"> {
  try {
    return await account.find(kind, ref);
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass === "notFound" || errorClass === "forbidden") return "unknown";
    throw error;
  }
}
