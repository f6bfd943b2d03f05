import type { InstallPlan } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";
import { z } from "zod";

import { reviewAccess } from "../permissions/reviews.ts";
import { serviceAccounts } from "./kinds.ts";
import type { AccountView } from "./seen.ts";

/** Who made the plan, as the API server's own policy notes it; see config/policy/installplan-author.yaml. */
const authorAnnotation = "install.quartermaster.dev/author";
/** The groups of the author, one per line. */
const authorGroupsAnnotation = "install.quartermaster.dev/author-groups";

/** The account that a plan names: there, the one it was, and still at the disposal of whoever made the plan. */
export async function readAccount(plan: InstallPlan, ctx: Context): Promise<AccountView> {
  const { metadata, spec, status } = plan;
  const ref = { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
  const found = ctx.follow(serviceAccounts, ref);
  if (found === undefined) return { kind: "missing" };
  const { uid = "" } = found.metadata;
  const pinned = status?.serviceAccountUid;
  if (pinned !== undefined && pinned !== uid) return { kind: "replaced", uid };
  const author = metadata.annotations?.[authorAnnotation];
  // Without the policy nobody has noted an author, and the right to make plans is all there is.
  if (author === undefined || (await mayImpersonate(author, plan, ctx))) return { kind: "present", uid };
  return { kind: "disowned", uid, author };
}

/** Whether the operator may act as the account of a plan; in some clusters that is given by namespace. */
export async function mayActAs({ metadata, spec }: InstallPlan, ctx: Context): Promise<boolean> {
  const right = {
    verb: "impersonate",
    group: "",
    resource: serviceAccounts.plural,
    namespace: metadata.namespace,
    name: spec.serviceAccountName,
  };
  return (await reviewAccess(ctx.client, [right], ctx.signal)).length === 0;
}

const reviewAnswer = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Asked in every pass: a right that is taken away counts from the next write on. */
async function mayImpersonate(user: string, { metadata, spec }: InstallPlan, ctx: Context): Promise<boolean> {
  const groups = metadata.annotations?.[authorGroupsAnnotation]?.split("\n") ?? [];
  const answer = await ctx.client.raw({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user,
        groups,
        resourceAttributes: {
          verb: "impersonate",
          group: "",
          resource: "serviceaccounts",
          namespace: metadata.namespace,
          name: spec.serviceAccountName,
        },
      },
    },
    signal: ctx.signal,
  });
  return reviewAnswer.parse(answer).status.allowed;
}
