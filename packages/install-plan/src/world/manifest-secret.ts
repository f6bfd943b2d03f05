import { ApiError, type Client, classify, type ObjectRef } from "@quartermaster/runtime";

import { type ManifestSecretObject, secrets } from "./kinds.ts";

/** The Secret that holds a manifest's content. Throws, with the remedy, where the operator may not read it. */
export async function findManifestSecret(
  client: Client,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<ManifestSecretObject | undefined> {
  try {
    return await client.find(secrets, ref, { signal });
  } catch (error) {
    if (classify(error) !== "forbidden") throw error;
    const message = `The operator may not read Secret ${ref.name}; bind ClusterRole quartermaster-plans to it in this namespace`;
    throw new ApiError(message, { class: "forbidden", mayHaveActed: false, cause: error });
  }
}
