import type { KubeObject } from "../object/kube-object.ts";

/**
 * Where an object is in its life, as far as we are concerned: not ours yet, ours, on its way out with our clean-up still
 * owed, or gone (being deleted, and nothing of it is our business any more).
 */
export type Stage = "needsFinalizer" | "active" | "deleting" | "finalized";

/** The stage of an object. Without a finalizer there is nothing to claim and nothing owed. */
export function lifecycle({ metadata }: KubeObject, finalizer: string | undefined): Stage {
  const isMarked = finalizer === undefined || (metadata.finalizers ?? []).includes(finalizer);
  if (metadata.deletionTimestamp === undefined) return isMarked ? "active" : "needsFinalizer";
  return isMarked && finalizer !== undefined ? "deleting" : "finalized";
}
