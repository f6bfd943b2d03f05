import { z } from "zod";

import type { Client } from "../client/client.ts";
import type { System } from "../system/system.ts";
import { SharedReads } from "./shared-reads.ts";

/** An access to review. Without `namespace` it means the whole cluster, without `name` any object of the resource. */
export interface AccessRequest {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Plural, with a subresource after a slash. A path such as `/metrics` stands for itself. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Who would do it: a user with groups, as the API server authenticated them. */
export interface AccessSubject {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A service account as the API server authenticates it, with the three groups that every account has. */
export function serviceAccountSubject({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): Required<Pick<AccessSubject, "user" | "groups">> {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

/** Options of an access review. */
export interface ReviewOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whose permission is meant (default: that of the client's own identity). */
  readonly subject?: AccessSubject | undefined;
}

const response = z.object({ status: z.object({ allowed: z.boolean() }) });

/**
 * Whether the permission is granted, by the API server's own authorizer: a SelfSubjectAccessReview, or a SubjectAccessReview
 * with a subject. Throws what the request throws: no response is never a yes.
 *
 * @example
 * const mayDelete = await reviewAccess(client, { verb: "delete", group: "", resource: "secrets", namespace, name });
 */
export async function reviewAccess(
  client: Client,
  request: AccessRequest,
  { signal, subject }: ReviewOptions = {},
): Promise<boolean> {
  const kind = subject === undefined ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const review = await client.raw({
    method: "POST",
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: { apiVersion: "authorization.k8s.io/v1", kind, spec: { ...subject, ...attributesOf(request) } },
    signal,
  });
  return response.parse(review).status.allowed;
}

function attributesOf({ resource: path, ...rest }: AccessRequest): object {
  if (path.startsWith("/")) return { nonResourceAttributes: { verb: rest.verb, path } };
  const [resource = "", subresource] = path.split("/");
  return { resourceAttributes: { ...rest, resource, subresource } };
}

/** How long decisions are valid, and how many are kept. */
export interface AccessCacheOptions {
  readonly client: Client;
  readonly system: Pick<System, "monotonicMs">;
  /** (default: 10 s) */
  readonly allowedForMs?: number | undefined;
  /** Shorter: a permission that was just granted should count soon (default: 2 s). */
  readonly deniedForMs?: number | undefined;
  /** Number of decisions kept; the oldest is dropped first (default: 10,000). */
  readonly limit?: number | undefined;
  /** Hook for metrics: every response, and whether it was known already. */
  readonly onReview?: ((response: AccessDecision) => void) | undefined;
}

/** Decision of an access review. */
export interface AccessDecision {
  readonly result: "allowed" | "denied" | "error";
  /** False for those that had to be queried, and for failures. */
  readonly isCached: boolean;
}

/**
 * Access reviews with a short memory, for paths that repeat the same review, such as a webhook. Call `clear` when a Role or a binding
 * changes. Reviews in progress are shared; failures are not remembered.
 */
export class AccessCache {
  readonly #reviews: SharedReads<Query, boolean>;
  readonly #onReview: (response: AccessDecision) => void;

  constructor({
    client,
    system,
    allowedForMs = 10_000,
    deniedForMs = 2_000,
    limit = 10_000,
    onReview = () => undefined,
  }: AccessCacheOptions) {
    this.#onReview = onReview;
    this.#reviews = new SharedReads({
      system,
      limit,
      idOf,
      read: async ({ request, subject }) => await reviewAccess(client, request, { subject }),
      freshMs: (isAllowed) => (isAllowed ? allowedForMs : deniedForMs),
    });
  }

  /** See `reviewAccess`. The signal ends only this caller's wait: others may share the question. */
  async isAllowed(request: AccessRequest, { signal, subject }: ReviewOptions = {}): Promise<boolean> {
    signal?.throwIfAborted();
    try {
      const { value, isCached } = await this.#reviews.get({ request, subject });
      this.#onReview({ result: value ? "allowed" : "denied", isCached });
      return value;
    } catch (error) {
      this.#onReview({ result: "error", isCached: false });
      throw error;
    }
  }

  /** Forgets every response, also those still in progress. */
  clear(): void {
    this.#reviews.clear();
  }
}

interface Query {
  readonly request: AccessRequest;
  readonly subject: AccessSubject | undefined;
}

/** The order of fields and of groups makes no difference. */
function idOf({ request: { verb, group, resource, namespace, name }, subject }: Query): string {
  const who =
    subject === undefined ? null : [subject.user, subject.uid, subject.groups?.toSorted(), subject.extra];
  return JSON.stringify([verb, group, resource, namespace, name, who]);
}
