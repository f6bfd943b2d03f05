import type { InstallPlan } from "@quartermaster/api";
import type { Kind, KubeObject } from "@quartermaster/runtime";
import type { Job } from "@quartermaster/runtime/kinds";

import type { Entry } from "../inventory/inventory.ts";
import type { WriteFailure } from "../model/write-failure.ts";
import type { WakeTrigger } from "../seen.ts";

/** An object of the plan, whether or not it is there. */
export interface Unread extends Entry {
  /** An object of a CRD that the plan brought: goes before everything else, while its controller still runs. */
  readonly isCustomResource: boolean;
}

/** An object of the plan that is still there and still has its owner labels. */
export interface Remaining extends Unread {
  readonly kind: Kind;
  readonly live: KubeObject;
  /** Holds what others put there; undefined when nothing speaks against deleting it. */
  readonly protectedBy?: string | undefined;
}

export interface DeletionSeen {
  readonly plan: InstallPlan;
  /** Without what the plan left behind for good. */
  readonly remaining: readonly Remaining[];
  /** Objects whose API does not respond; they must not count as deleted. */
  readonly unconfirmed: readonly Unread[];
  /** Some watch has not shown its first picture yet. */
  readonly isPending: boolean;
  /** Why the operator may not read the remaining objects; then nothing else is known. */
  readonly unseen?: string | undefined;
  /** Jobs of the plan's stages that still run. */
  readonly runningJobs: readonly Job[];
  /** Only the account that was vouched for counts, by uid: another one of its name may have other permissions. */
  readonly account: "present" | "missing" | "replaced";
  /** The plan's whole namespace goes, and the plan must not hold that up. */
  readonly isNamespaceTerminating: boolean;
  /** `kubectl delete --cascade=orphan`, as far as the API still shows it. */
  readonly isOrphanRequested: boolean;
  /** The deletion has had its time, and the plan says to let go then. */
  readonly isOverdue: boolean;
  /** Writes that the account was refused in this reconcile, by the uid of the object. */
  readonly refusals: ReadonlyMap<string, WriteFailure>;
  /** Uids of objects whose deletion or release was requested, and whose watch does not show it yet. */
  readonly requested: ReadonlySet<string>;
  readonly recentlyChanged: readonly WakeTrigger[];
  /** Names of plans that depend on this one and are being deleted too. */
  readonly dependents: readonly string[];
}

/** The plan says so, or its whole namespace goes. */
export function isLettingGo({
  plan,
  isNamespaceTerminating,
}: Pick<DeletionSeen, "plan" | "isNamespaceTerminating">): boolean {
  return plan.spec.deletion.ifUnauthorized === "Orphan" || isNamespaceTerminating;
}
