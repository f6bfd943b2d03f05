import type { InstallPlan, ResourceManifest } from "@quartermaster/api";
import type { Health, ResourceState } from "@quartermaster/health";
import type { Kind, KubeObject, Why } from "@quartermaster/runtime";
import type { Job } from "@quartermaster/runtime/kinds";

import type { AccountView } from "./account/account.ts";
import type { Confirmation } from "./confirmation/confirmation.ts";
import type { Dependencies } from "./dependencies/dependencies.ts";
import type { Drift } from "./drift/drift.ts";
import type { RevertConflict } from "./drift/revert-conflicts.ts";
import type { RevertException } from "./drift/revert-exception.ts";
import type { Replacement } from "./handover/replacement.ts";
import type { Takeover } from "./handover/takeover.ts";
import type { JobView } from "./jobs/job-view.ts";
import type { Content } from "./manifest/content.ts";
import type { Identity } from "./model/identity.ts";
import type { Issue } from "./model/issue.ts";
import type { Member } from "./model/member.ts";
import type { WriteFailure } from "./model/write-failure.ts";
import type { OwnerLabels } from "./ownership/owner-labels.ts";
import type { Ownership } from "./ownership/ownership.ts";
import type { Permission } from "./permissions/permission.ts";
import type { PinnedNamespace } from "./plan-memory.ts";
import type { Colliding } from "./preflight/colliding.ts";
import type { Transformed } from "./transformations/transformed.ts";

/** Everything that a decision about a plan needs, read at one moment. */
export interface Seen {
  readonly plan: InstallPlan;
  readonly ownerLabels: OwnerLabels;
  readonly content: Content;
  readonly members: readonly MemberView[];
  /** The ResourceManifests that the plan refers to, as far as they are there. */
  readonly manifests: readonly ResourceManifest[];
  readonly jobs: readonly JobView[];
  /** Failed Jobs of earlier tries that are not kept. */
  readonly surplusJobs: readonly Job[];
  readonly account: AccountView;
  /** Kinds of the plan that the operator may not watch. */
  readonly unwatchable: readonly Kind[];
  /** Whether a user says that the plan was restored from a backup together with its objects. */
  readonly restore: Confirmation;
  readonly replacement: Replacement;
  /** Plans that have to be ready first; undefined where there are none, and once the plan has started. */
  readonly dependencies?: Dependencies | undefined;
  /** Permissions of the plan on other plans; undefined means no other plans. */
  readonly takeover?: Takeover | undefined;
  /** Facts needed before the first write; undefined after it, or while they cannot be queried. */
  readonly preflight?: Preflight | undefined;
  /** The objects that are in the way of the plan's own; undefined when there are none. */
  readonly colliding?: Colliding | undefined;
  /** Objects that transformations select, where it matters now, and reasons against it. */
  readonly transformed: readonly Transformed[];
  readonly transformationIssues: readonly Issue[];
  /** Objects that predecessors leave to be deleted; after a failed handover, those that the plan made itself. */
  readonly leftovers: readonly Leftover[];
  /** Refused writes besides those of members: jobs of stages, deletions. */
  readonly writeFailures: readonly WriteFailure[];
  /** The namespaces of the objects as they were first seen. */
  readonly pinnedNamespaces: readonly PinnedNamespace[];
  /** How long content of the plan has not been found; 0 when all of it is. */
  readonly unresolvedMs: number;
  /** How long the present stage has been worked on in this attempt. */
  readonly stageElapsedMs: number;
  /** How long until a failed attempt is followed by the next; 0 when it is due. */
  readonly retryInMs: number;
  readonly nowMs: number;
  /** Recent changes: a response of the server that does not show it yet is read again soon. */
  readonly recentlyChanged?: readonly WakeTrigger[] | undefined;
}

/** One object of the plan with its state in the cluster. */
export interface MemberView {
  readonly member: Member;
  /** Undefined while the kind is not served. */
  readonly kind?: Kind | undefined;
  readonly live?: KubeObject | undefined;
  readonly ownership: Ownership;
  readonly drift: Drift;
  readonly health?: Health | undefined;
  readonly state: ResourceState;
  readonly failure?: WriteFailure | undefined;
  readonly revertConflict?: RevertConflict | undefined;
  /** Annotation on the live object that suspends drift repair. */
  readonly exception?: RevertException | undefined;
  /** A Job that has had its time and was removed by the cluster, as its manifest says: not to be run again. */
  readonly isExpired?: true | undefined;
  /** Another client's object that the approval of the plan does not cover: it came, or replaced another, after the start. */
  readonly isUnapproved?: true | undefined;
  /** Why it cannot be written yet: kind not served, namespace not there. Undefined when it can. */
  readonly blockedBy?: Why | undefined;
}

export type PreviewAction =
  | "create"
  | "update"
  | "adopt"
  | "takeover"
  | "recreate"
  | "noop"
  | "delete"
  | "deferred";

export interface Preflight {
  readonly issues: readonly Issue[];
  readonly missingPermissions: readonly Permission[];
  /** Checks that could not be decided just now. */
  readonly undecided: readonly string[];
  readonly retryAfterMs: number;
  /** Uids of the objects that would be adopted. */
  readonly adopts: readonly string[];
  /** Objects that would be deleted at the end. */
  readonly deletes: readonly Identity[];
  /** For each member in order. */
  readonly actions: readonly PreviewAction[];
  readonly digest: string;
  /** How long the questions have been open. */
  readonly elapsedMs: number;
}

/** An object to delete once the plan is installed. */
export interface Leftover {
  readonly kind: Kind;
  readonly live: KubeObject;
  readonly cleanup: "Delete" | "Orphan";
  /** Holds what others put there, so that it stays; undefined when nothing speaks against deleting it. */
  readonly protectedBy?: string | undefined;
}

export type WakeTrigger = "kinds" | "permissions" | "namespaces" | "plans" | "admission";
