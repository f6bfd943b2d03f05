import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import {
  classify,
  controllerReference,
  fieldOf,
  isJsonObject,
  type JsonObject,
  type Live,
} from "@quartermaster/runtime";

import { takeOver } from "../owner-labels.ts";
import type { PerformContext } from "../perform-context.ts";
import type { ActionOf } from "../search-action.ts";
import { belongsTo, managerOf } from "./predecessor.ts";

/**
 * Makes an object of the predecessor this cluster's: owner reference, owner label, and which manager applied its fields, so that fields
 * which are declared no more go away. One write, with uid and resourceVersion: what was changed meanwhile is read again.
 */
export async function inheritObject(
  { resource, name, uid, from }: ActionOf<"inherit">,
  { ctx, cluster, findCluster }: PerformContext,
): Promise<void> {
  const ref = { namespace: cluster.namespace, name };
  const [live, heir] = await Promise.all([ctx.client.find(resource, ref), findCluster()]);
  if (live?.metadata.uid !== uid || heir?.metadata.uid !== cluster.uid) return;
  if (!belongsTo(live, { ...heir, metadata: { ...heir.metadata, uid: from } })) return;
  try {
    await ctx.client.patch(resource, ref, {
      patch: { kind: "merge", body: { metadata: inheritedMetadata(live, heir) } },
    });
  } catch (error) {
    if (!["notFound", "conflict"].includes(classify(error))) throw error;
  }
}

const managers = {
  from: managerOf(opsterOpenSearchCluster.kind),
  to: managerOf(openSearchCluster.kind),
};

/** Objects applied for the predecessor are owned; Secrets and claims that outlive a cluster are not. */
function inheritedMetadata({ metadata }: Live, heir: Live): object {
  const { uid, resourceVersion, managedFields = [] } = metadata;
  const isApplied = managedFields.some(isAppliedBefore);
  return {
    uid,
    resourceVersion,
    labels: takeOver(heir.metadata),
    managedFields: managedFields.map((entry) =>
      isAppliedBefore(entry) ? { ...entry, manager: managers.to } : entry,
    ),
    ...(isApplied ? { ownerReferences: [controllerReference(heir)] } : {}),
  };
}

function isAppliedBefore(entry: unknown): entry is JsonObject {
  return (
    isJsonObject(entry) &&
    fieldOf(entry, "manager") === managers.from &&
    fieldOf(entry, "operation") === "Apply"
  );
}
