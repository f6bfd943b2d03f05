import type { Kind } from "@quartermaster/runtime";
import { persistentVolumeClaims, secrets } from "@quartermaster/runtime/kinds";

import { ownerLabels, takeOver, writerLabels } from "./owner-labels.ts";
import type { ActionHandlers, PerformContext } from "./perform-context.ts";
import type { ActionOf } from "./search-action.ts";

/** How it is written whose an object is, and nothing else of it. */
export const ownerHandlers: ActionHandlers<"takeOverSecret" | "annotateVolume" | "protect" | "release"> = {
  takeOverSecret,
  annotateVolume,
  protect,
  release,
};

/** Makes a Secret of an earlier cluster of the same name this one's. */
async function takeOverSecret(action: ActionOf<"takeOverSecret">, context: PerformContext): Promise<void> {
  await patchMetadata({ ...action, resource: secrets }, { labels: takeOver(context.cluster) }, context);
}

/** Writes onto a claim whose it is and what it holds. */
async function annotateVolume(
  { annotations, ...action }: ActionOf<"annotateVolume">,
  context: PerformContext,
): Promise<void> {
  const labels = { ...takeOver(context.cluster), ...writerLabels(context.cluster) };
  await patchMetadata({ ...action, resource: persistentVolumeClaims }, { labels, annotations }, context);
}

/** Sets or removes the label by which the API server refuses to delete an object. */
async function protect(action: ActionOf<"protect">, context: PerformContext): Promise<void> {
  const value = action.isProtected ? "true" : null;
  await patchMetadata(action, { labels: { [ownerLabels.deletionProtected]: value } }, context);
}

/** Takes our owner label off an object. */
async function release(action: ActionOf<"release">, context: PerformContext): Promise<void> {
  await patchMetadata(action, { labels: { [ownerLabels.uid]: null } }, context);
}

/** Every patch carries the uid: an object that was made again under the name is not patched. */
async function patchMetadata(
  { resource, name, uid }: { readonly resource: Kind; readonly name: string; readonly uid: string },
  metadata: object,
  { ctx, cluster: { namespace } }: PerformContext,
): Promise<void> {
  const patch = { kind: "merge", body: { metadata: { uid, ...metadata } } } as const;
  await ctx.client.patch(resource, { namespace, name }, { patch });
}
