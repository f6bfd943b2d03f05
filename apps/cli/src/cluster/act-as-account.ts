import type { InstallPlan } from "@quartermaster/api";
import { z } from "zod";

import { CliError } from "../errors.ts";
import type { Cluster } from "./connect.ts";

const reviewAnswer = z.object({ status: z.object({ allowed: z.boolean() }) });

/**
 * The cluster as the plan's service account sees it. Whether the person may act as it is asked first: otherwise every object
 * would look refused, when it is the person who is.
 */
export async function actAsAccount(
  plan: InstallPlan,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Cluster> {
  const { client, namespace } = cluster;
  const name = plan.spec.serviceAccountName;
  const resourceAttributes = { verb: "impersonate", group: "", resource: "serviceaccounts", namespace, name };
  const answer = await client.raw({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    },
    signal,
  });
  if (reviewAnswer.parse(answer).status.allowed)
    return { ...cluster, client: client.as({ user: `system:serviceaccount:${namespace}:${name}` }) };
  throw new CliError(
    `you may not act as service account ${namespace}/${name}, which the plan is checked with; ask for the right to impersonate it`,
  );
}
