import type { ClusterBundle } from "@quartermaster/api";
import { type Context, type Live, recordedAuthor, reviewAccess, type Why } from "@quartermaster/runtime";

import { bundleReasons } from "../bundle-reasons.ts";
import { type ObjectIdentity, referenceKey, referencesOf } from "../injection/injection-facts.ts";
import { resourceOf } from "../object-access/object-access.ts";
import { describeObject } from "../references/read-keys.ts";

/** Who wrote the spec last, as config/policy/subscription-author-record.yaml records it. */
const authorAnnotations = {
  user: "subscription.openshift.io/author",
  groups: "subscription.openshift.io/author-groups",
} as const;

/** Whether the author of a ClusterBundle may hand out what it refers to. */
export type AuthorFacts =
  /** Not recorded, and not required. */
  | { readonly kind: "notRequired" }
  | { readonly kind: "unknown" }
  | { readonly kind: "known"; readonly user: string; readonly denied: ReadonlySet<string> };

/**
 * Reviews whether the author may get each object that the bundle refers to. A ClusterBundle hands Secrets of any namespace to pods:
 * without this, the permission to write ClusterBundles would be the permission to read every Secret.
 */
export async function observeAuthor(
  bundle: Live<ClusterBundle>,
  { client, signal }: Pick<Context, "client" | "signal">,
  isRequired: boolean,
): Promise<AuthorFacts> {
  const author = recordedAuthor(bundle, authorAnnotations);
  if (author === "unreadable") return { kind: "unknown" };
  if (author === undefined) return { kind: isRequired ? "unknown" : "notRequired" };
  const objects = referencesOf(bundle).map(({ object }) => object);
  const reviews = await Promise.all(
    objects.map(async (object) => {
      const { kind, namespace, name } = object;
      const request = { verb: "get", group: "", resource: resourceOf(kind), namespace, name };
      const isAllowed = await reviewAccess(client, request, { subject: author, signal });
      return isAllowed ? [] : [referenceKey(object)];
    }),
  );
  return { kind: "known", user: author.user, denied: new Set(reviews.flat()) };
}

/** Whether an object may be read and shared for the bundle. */
export function isPermitted(author: AuthorFacts, object: ObjectIdentity): boolean {
  if (author.kind === "known") return !author.denied.has(referenceKey(object));
  return author.kind === "notRequired";
}

/** The problem of the author's permissions; undefined when there is none. */
export function authorProblem(author: AuthorFacts, objects: readonly ObjectIdentity[]): Why | undefined {
  if (author.kind === "unknown")
    return {
      reason: bundleReasons.authorUnknown,
      message:
        "The author of the bundle is not recorded, so that nothing is shared. Apply config/policy/subscription-author-record.yaml and write the spec again, or set the annotations subscription.openshift.io/author and author-groups to your own name and groups.",
    };
  const denied = objects.find((object) => !isPermitted(author, object));
  if (denied === undefined || author.kind !== "known") return undefined;
  return {
    reason: bundleReasons.authorForbidden,
    message: `${author.user}, who wrote the bundle, may not get ${describeObject(denied)}. A user who may get it has to write the spec.`,
  };
}
