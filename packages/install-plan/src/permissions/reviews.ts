import { type Client, type ObjectRef, reviewAccess } from "@quartermaster/runtime";
import { z } from "zod";

import { inBatches } from "../in-batches.ts";
import type { Permission } from "./permission.ts";
import { parsePolicyRules } from "./policy-rule.ts";
import { wholeCluster, type RulesReview } from "./rules-review.ts";

/**
 * No namespace can have this name. The server does not look for the namespace it is asked about, so that the answer holds the
 * rules of ClusterRoleBindings and nothing else: exactly what counts for cluster-wide objects.
 */
const noNamespace = "_";

const rulesAnswer = z.object({
  status: z.object({
    resourceRules: z.unknown(),
    nonResourceRules: z.unknown(),
    incomplete: z.boolean().optional(),
  }),
});

/** What the account that the client speaks as may do in a namespace, or cluster-wide with `wholeCluster`. */
export async function reviewRules(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<RulesReview> {
  const answer = await client.raw({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: namespace === wholeCluster ? noNamespace : namespace },
    },
    signal,
  });
  const { status } = rulesAnswer.parse(answer);
  const rules = parsePolicyRules(status.resourceRules);
  const paths = parsePolicyRules(status.nonResourceRules);
  return {
    rules: [...(rules ?? []), ...(paths ?? [])],
    isIncomplete: status.incomplete === true || rules === undefined || paths === undefined,
  };
}

/** How many questions are under way at once. */
const concurrency = 16;

/** Those of the permissions that the account the client speaks as does not have; one request each. */
export async function lackingOf(
  client: Client,
  permissions: readonly Permission[],
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const answers = await inBatches(
    permissions,
    concurrency,
    async (permission) => await reviewAccess(client, permission, { signal }),
  );
  return permissions.filter((_permission, index) => answers[index] !== true);
}

/** The permission to act as a service account. */
export function impersonationOf({ namespace, name }: ObjectRef): Permission {
  return { verb: "impersonate", group: "", resource: "serviceaccounts", namespace, name };
}
