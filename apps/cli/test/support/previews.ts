import type { InstallPlan } from "@quartermaster/api";

/** A preview of so many objects to be created and nothing else. */
export function creating(
  digest: string,
  create: number,
): NonNullable<NonNullable<InstallPlan["status"]>["preview"]> {
  return { digest, create, update: 0, adopt: 0, takeover: 0, recreate: 0, noop: 0, delete: 0, deferred: 0 };
}
