import { z } from "zod";

import type { Client } from "../client/client.ts";
import type { System } from "../system/system.ts";

/** What somebody would do. Without `namespace` it means the whole cluster, without `name` any object of the resource. */
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

/** How an access review is asked. */
export interface ReviewOptions {
  readonly signal?: AbortSignal;
  /** Whose permission is meant (default: that of the client's own identity). */
  readonly subject?: AccessSubject;
}

const answer = z.object({ status: z.object({ allowed: z.boolean() }) });

/**
 * Whether the permission is granted, by the API server's own authorizer: a SelfSubjectAccessReview, or a SubjectAccessReview
 * with a subject. Throws what the request throws: no answer is never a yes.
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
    ...(signal === undefined ? {} : { signal }),
  });
  return answer.parse(review).status.allowed;
}

function attributesOf({ resource: path, ...rest }: AccessRequest): object {
  if (path.startsWith("/")) return { nonResourceAttributes: { verb: rest.verb, path } };
  const [resource = "", subresource] = path.split("/");
  return { resourceAttributes: { ...rest, resource, ...(subresource === undefined ? {} : { subresource }) } };
}

/** How long answers hold, and how many are kept. */
export interface AccessCacheOptions {
  readonly client: Client;
  readonly system: Pick<System, "monotonicMs">;
  /** (default: 10 s) */
  readonly allowedForMs?: number;
  /** Shorter: a permission that was just granted should count soon (default: 2 s). */
  readonly deniedForMs?: number;
  /** Answers kept; the oldest goes first (default: 10,000). */
  readonly limit?: number;
}

interface Known {
  readonly answer: Promise<boolean>;
  validUntilMs: number;
}

/**
 * Access reviews with a short memory, for paths that ask the same often, such as a webhook. Call `clear` when a Role or a binding
 * changes. Questions under way are shared; failures are not remembered.
 */
export class AccessCache {
  readonly #options: Required<AccessCacheOptions>;
  readonly #known = new Map<string, Known>();

  constructor(options: AccessCacheOptions) {
    this.#options = { allowedForMs: 10_000, deniedForMs: 2_000, limit: 10_000, ...options };
  }

  /** See `reviewAccess`. The signal ends only this caller's wait: others may share the question. */
  async isAllowed(request: AccessRequest, { signal, subject }: ReviewOptions = {}): Promise<boolean> {
    signal?.throwIfAborted();
    const key = keyFor(request, subject);
    const known = this.#known.get(key);
    if (known !== undefined && known.validUntilMs > this.#options.system.monotonicMs())
      return await known.answer;
    return await this.#ask(key, request, subject);
  }

  /** Forgets every answer, also those still under way. */
  clear(): void {
    this.#known.clear();
  }

  async #ask(key: string, request: AccessRequest, subject: AccessSubject | undefined): Promise<boolean> {
    const { client, system, allowedForMs, deniedForMs } = this.#options;
    const entry: Known = {
      answer: reviewAccess(client, request, subject === undefined ? {} : { subject }),
      validUntilMs: Number.POSITIVE_INFINITY,
    };
    this.#keep(key, entry);
    try {
      const isAllowed = await entry.answer;
      entry.validUntilMs = system.monotonicMs() + (isAllowed ? allowedForMs : deniedForMs);
      return isAllowed;
    } catch (error) {
      if (this.#known.get(key) === entry) this.#known.delete(key);
      throw error;
    }
  }

  /** A map keeps the order of insertion: the first key is the oldest. */
  #keep(key: string, entry: Known): void {
    this.#known.delete(key);
    this.#known.set(key, entry);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#options.limit && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** JSON has no separators that a name could forge. */
function keyFor(
  { verb, group, resource, namespace, name }: AccessRequest,
  subject: AccessSubject | undefined,
): string {
  const who =
    subject === undefined ? null : [subject.user, subject.uid, subject.groups?.toSorted(), subject.extra];
  return JSON.stringify([verb, group, resource, namespace, name, who]);
}
