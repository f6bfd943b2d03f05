import { classify } from "@quartermaster/runtime";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "@quartermaster/runtime/kinds";

import { quantityBytes } from "../model/quantity-units.ts";
import type { PerformContext } from "../perform-context.ts";
import type { ActionOf } from "../search-action.ts";

/**
 * Asks for a larger volume, of the claim that was seen and no other, and never for a smaller one. The API server itself refuses where the
 * StorageClass does not allow it, or a quota is used up: that is remembered, and nodes are added instead.
 */
export async function growClaim(
  { name, uid, size, pool }: ActionOf<"growClaim">,
  { ctx, cluster, windows }: PerformContext,
): Promise<void> {
  const ref = { namespace: cluster.namespace, name };
  const live = await ctx.client.find(persistentVolumeClaims, ref);
  if (live?.metadata.uid !== uid || !isSmaller(live, size)) return;
  const { resourceVersion } = live.metadata;
  try {
    await ctx.client.patch(persistentVolumeClaims, ref, {
      patch: {
        kind: "merge",
        body: { metadata: { uid, resourceVersion }, spec: { resources: { requests: { storage: size } } } },
      },
    });
  } catch (error) {
    if (!["forbidden", "invalid"].includes(classify(error))) throw error;
    windows.refuseVolumes(cluster.uid, pool);
  }
}

function isSmaller({ spec }: PersistentVolumeClaim, size: string): boolean {
  const [has, wanted] = [spec?.resources?.requests?.["storage"], size].map(quantityBytes);
  return has !== undefined && wanted !== undefined && has < wanted;
}
