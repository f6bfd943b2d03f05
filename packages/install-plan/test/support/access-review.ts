import type { Client } from "@quartermaster/runtime";
import { z } from "zod";

const review = z.object({ status: z.object({ allowed: z.boolean() }) });

/** What the server's authorizer says now of a user: it learns of a change shortly after it was made. */
export async function isUserAllowed(client: Client, user: string, attributes: object): Promise<boolean> {
  const response = await client.raw({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user, resourceAttributes: attributes },
    },
    signal: AbortSignal.timeout(10_000),
  });
  return review.parse(response).status.allowed;
}
