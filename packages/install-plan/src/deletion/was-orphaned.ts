import type { InstallPlan, ResourceManifest } from "@quartermaster/api";

/** `kubectl delete --cascade=orphan` leaves this finalizer, until the garbage collector has done its part. */
export function isOrphaning({ metadata }: InstallPlan): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes("orphan");
}

/**
 * The trace that the garbage collector leaves when it did its part while no operator ran: it took the plan's owner reference off all
 * that had one, and the operator had put one on every manifest before it started the plan. Manifests made since, or with other
 * content than the plan names, count for nothing, and a plan whose objects are all inline has no such trace: its deletion looks like any other (docs/decisions/0015).
 */
export function wasOrphaned(plan: InstallPlan, manifests: readonly ResourceManifest[]): boolean {
  const { startedAt } = plan.status ?? {};
  if (startedAt === undefined || plan.metadata.deletionTimestamp === undefined) return false;
  const named = digestsOf(plan);
  const claimed = manifests.filter(
    ({ metadata, spec }) =>
      isBefore(metadata.creationTimestamp, startedAt) && named.get(metadata.name) === spec.sha256,
  );
  const isOwned = ({ metadata }: ResourceManifest): boolean =>
    (metadata.ownerReferences ?? []).some(({ uid }) => uid === plan.metadata.uid);
  return claimed.length > 0 && !claimed.some(isOwned);
}

function digestsOf({ spec }: InstallPlan): ReadonlyMap<string, string> {
  const refs = spec.stages.flatMap(({ resources = [] }) =>
    resources.flatMap(({ manifestRef }) => manifestRef ?? []),
  );
  return new Map(refs.map(({ name, sha256 }) => [name, sha256]));
}

function isBefore(time: string | undefined, other: string): boolean {
  return time !== undefined && Date.parse(time) <= Date.parse(other);
}
