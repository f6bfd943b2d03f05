import type { InstallPlan } from "@quartermaster/api";
import { classify, type Client, type Kind, type KubeObject, type ObjectRef } from "@quartermaster/runtime";

/** The same connection with the permissions of the plan's account and no others; the server adds the groups of accounts itself. */
export function asAccount(client: Client, { metadata, spec }: InstallPlan): Client {
  return client.as({ user: `system:serviceaccount:${metadata.namespace ?? ""}:${spec.serviceAccountName}` });
}

/**
 * The object as the plan's account sees it; the client speaks as the account. Unknown where the account may not read it, or
 * where the kind went with its CRD since discovery was read: then neither presence nor absence is sure.
 */
export async function findAsAccount(
  account: Client,
  kind: Kind,
  ref: ObjectRef,
): Promise<KubeObject | undefined | "unknown"> {
  try {
    return await account.find(kind, ref);
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass === "notFound" || errorClass === "forbidden") return "unknown";
    throw error;
  }
}
