import type { InstallPlan } from "@quartermaster/api";
import { impersonationOf } from "@quartermaster/install-plan/offline";
import { reviewAccess } from "@quartermaster/runtime";

import { CliError } from "../errors.ts";
import type { Cluster } from "./connect.ts";

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
  if (await reviewAccess(client, impersonationOf({ namespace, name }), { signal }))
    return { ...cluster, client: client.as({ user: `system:serviceaccount:${namespace}:${name}` }) };
  throw new CliError(
    `you are not allowed to impersonate service account ${namespace}/${name}, which is required to check the plan; request the permission to impersonate it`,
  );
}
