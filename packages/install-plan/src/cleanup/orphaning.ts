import type { InstallPlan } from "@quartermaster/api";

/** `kubectl delete --cascade=orphan` leaves this finalizer, until the garbage collector has done its part. */
export function isOrphaning({ metadata }: InstallPlan): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes("orphan");
}
