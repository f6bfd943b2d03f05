import { unreachable } from "@quartermaster/runtime";
import { persistentVolumeClaims, secrets } from "@quartermaster/runtime/kinds";

import { performInherit } from "./handover/perform-inherit.ts";
import { markLabels, takeOver, writerLabels } from "./marks.ts";
import type { SearchAction } from "./search-action.ts";
import type { Subject } from "./subject.ts";

const ownerActions = ["inherit", "takeOverSecret", "markVolume", "protect", "release"] as const;

type OwnerAction = Extract<SearchAction, { readonly do: (typeof ownerActions)[number] }>;

/** Whether an action is about whose an object is, and nothing else of it. */
export function isOwnerAction(action: SearchAction): action is OwnerAction {
  return ownerActions.some((each) => each === action.do);
}

/** Patches owner labels. They carry the uid: an object that was made again under the name is not patched. */
export async function performOwner(action: OwnerAction, subject: Subject): Promise<void> {
  const { ctx, cluster } = subject;
  const ref = { namespace: cluster.namespace, name: action.name };
  const patch = (
    metadata: object,
  ): { readonly patch: { readonly kind: "merge"; readonly body: object } } => ({
    patch: { kind: "merge", body: { metadata: { uid: action.uid, ...metadata } } },
  });
  switch (action.do) {
    case "inherit":
      await performInherit(action, subject);
      return;
    case "takeOverSecret":
      await ctx.client.patch(secrets, ref, patch({ labels: takeOver(cluster) }));
      return;
    case "markVolume":
      await ctx.client.patch(
        persistentVolumeClaims,
        ref,
        patch({
          labels: { ...takeOver(cluster), ...writerLabels(cluster) },
          annotations: action.annotations,
        }),
      );
      return;
    case "protect":
      await ctx.client.patch(
        action.kind,
        ref,
        patch({ labels: { [markLabels.deletionProtected]: action.isProtected ? "true" : null } }),
      );
      return;
    case "release":
      await ctx.client.patch(action.kind, ref, patch({ labels: { [markLabels.uid]: null } }));
      return;
    default:
      unreachable(action);
  }
}
