import type { InstallPlan } from "@quartermaster/api";
import type { Client } from "@quartermaster/runtime";

/** The same connection with the permissions of the plan's account and no others; the server adds the groups of accounts itself. */
export function asAccount(client: Client, { metadata, spec }: InstallPlan): Client {
  return client.as({ user: `system:serviceaccount:${metadata.namespace ?? ""}:${spec.serviceAccountName}` });
}
