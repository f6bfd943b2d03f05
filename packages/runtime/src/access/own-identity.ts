import { z } from "zod";

import type { Client } from "../client/client.ts";

const response = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** The user that the API server takes the client for, by a SelfSubjectReview; every authenticated user may send one. */
export async function ownIdentity(
  client: Client,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<string> {
  const review = await client.raw({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    signal,
  });
  return response.parse(review).status.userInfo.username;
}

const accountPattern = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The identity as `kubectl create rolebinding` takes it: `--serviceaccount namespace:name`, or `--user name`. */
export function subjectFlag(user: string): string {
  const [, namespace, name] = accountPattern.exec(user) ?? [];
  return namespace === undefined ? `--user '${user}'` : `--serviceaccount ${namespace}:${name ?? ""}`;
}
