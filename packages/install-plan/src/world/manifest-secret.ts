import type { InstallPlan } from "@quartermaster/api";
import { ApiError, classify, type Context } from "@quartermaster/runtime";

import { asAccount } from "../account.ts";
import { mayActAs } from "./account-view.ts";
import { type ManifestSecretObject, secrets } from "./kinds.ts";

/**
 * The Secret that holds a manifest's content, read as the plan's account: with the operator's own permissions, the author of a
 * ResourceManifest could ask what is in any Secret of the namespace. Throws, with the remedy, where the operator may not act as
 * the account.
 */
export async function findManifestSecret(
  plan: InstallPlan,
  name: string,
  ctx: Context,
): Promise<ManifestSecretObject | "forbidden" | undefined> {
  const { namespace = "" } = plan.metadata;
  try {
    return await asAccount(ctx.client, plan).find(secrets, { namespace, name }, { signal: ctx.signal });
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    if (await mayActAs(plan, ctx)) return "forbidden";
    const message = `The operator may not impersonate service account ${plan.spec.serviceAccountName}; bind ClusterRole quartermaster-plans to it in this namespace`;
    throw new ApiError(message, { class: "forbidden", mayHaveActed: false, cause: error });
  }
}
