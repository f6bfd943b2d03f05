import type { Client, ObjectRef } from "@quartermaster/runtime";
import { z } from "zod";

import { inBatches } from "../in-batches.ts";
import { parsePolicyRules } from "./policy-rule.ts";
import type { Right } from "./rights.ts";
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

/** Those of the rights that the account the client speaks as does not have; one request each. */
export async function reviewAccess(
  client: Client,
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<readonly Right[]> {
  const answers = await inBatches(
    rights,
    concurrency,
    async (right) => await isAllowed(client, right, { signal }),
  );
  return rights.filter((_right, index) => answers[index] !== true);
}

const accessAnswer = z.object({ status: z.object({ allowed: z.boolean() }) });

/** How a right is asked about. */
export interface AccessQuestion {
  readonly signal: AbortSignal;
  /** Whose right it would be; unless told that of the one the client speaks as. */
  readonly subject?: { readonly user: string; readonly groups: readonly string[] };
}

/** Whether somebody has the right, by the server's own word. */
export async function isAllowed(
  client: Client,
  right: Right,
  { signal, subject }: AccessQuestion,
): Promise<boolean> {
  const kind = subject === undefined ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const answer = await client.raw({
    method: "POST",
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: { apiVersion: "authorization.k8s.io/v1", kind, spec: { ...subject, ...attributesOf(right) } },
    signal,
  });
  return accessAnswer.parse(answer).status.allowed;
}

/** The right to act as a service account. */
export function impersonationOf({ namespace, name }: ObjectRef): Right {
  return { verb: "impersonate", group: "", resource: "serviceaccounts", namespace, name };
}

function attributesOf({ resource: path, ...right }: Right): object {
  if (path.startsWith("/")) return { nonResourceAttributes: { verb: right.verb, path } };
  const [resource = "", subresource] = path.split("/");
  return {
    resourceAttributes: { ...right, resource, ...(subresource === undefined ? {} : { subresource }) },
  };
}
