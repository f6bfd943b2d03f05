import { digestOf, fieldOf, type KubeObject } from "@quartermaster/runtime";

import { deletedOf } from "../handover/leftovers.ts";
import { describeIdentity, identityKey, identityOf } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import type { Member } from "../model/member.ts";
import { collisionText, unowned } from "../ownership/collision-text.ts";
import { bindingRight } from "../permissions/escalation.ts";
import type { Permission } from "../permissions/permission.ts";
import type { DryRun } from "../plan-memory.ts";
import type { MemberView, Preflight, PreviewAction, Seen } from "../seen.ts";
import { previewAction } from "./preview.ts";

export interface MemberFinding {
  readonly view: MemberView;
  /** Undefined where nothing had to be queried. */
  readonly dryRun?: DryRun | undefined;
  /** The object has to be made again, and a dry run showed that it can be. */
  readonly isRecreated?: boolean | undefined;
  readonly unsafe?: readonly Issue[] | undefined;
}

export interface PreflightFacts extends Pick<
  Seen,
  "plan" | "transformed" | "transformationIssues" | "leftovers"
> {
  /** Dry runs of the jobs' templates. */
  readonly jobRuns: readonly DryRun[];
  readonly missingPermissions: readonly Permission[];
  readonly elapsedMs: number;
}

/** All responses together, as one decision needs them. */
export function preflightFrom(findings: readonly MemberFinding[], facts: PreflightFacts): Preflight {
  const { missingPermissions, elapsedMs, transformed, transformationIssues, leftovers, jobRuns } = facts;
  const isManual = facts.plan.spec.approval === "Manual";
  const actions = findings.map(actionOf);
  const dryRuns = [...findings.flatMap(({ dryRun }) => dryRun ?? []), ...jobRuns];
  const transients = dryRuns.filter((dryRun) => dryRun.kind === "transient");
  const unreadable = transformed.flatMap((each) => each.unreadable);
  const jobIssues = jobRuns.flatMap((dryRun) => (dryRun.kind === "issue" ? [dryRun.issue] : []));
  const deletions = [
    ...transformed.flatMap(({ matches }) => matches),
    ...deletedOf(leftovers).map(({ live }) => ({ ...live, trace: liveTrace(live) })),
  ];
  const adopts = findings.flatMap(({ view }, index) =>
    actions[index] === "adopt" ? (view.live?.metadata.uid ?? []) : [],
  );
  return {
    issues: [
      ...findings.flatMap(findingIssues),
      ...jobIssues,
      ...transformationIssues,
      ...(isManual ? adoptionIssues(adopts.length) : []),
    ],
    missingPermissions: [
      // A review lists what the reads were refused for; where it does not, the refusal itself counts.
      ...(missingPermissions.length === 0 ? unreadable : missingPermissions),
      ...findings.flatMap(escalationsOf),
    ],
    undecided: transients.map(({ message }) => message),
    retryAfterMs: Math.max(0, ...transients.map(({ retryAfterMs }) => retryAfterMs)),
    actions,
    adopts,
    deletes: deletions.map(identityOf),
    digest: digestOf([
      ...findings.map(({ view }, index) => traceOf(view, actions[index] ?? "noop")),
      ...deletions.map((object) => [identityKey(identityOf(object)), object.trace]),
    ]),
    elapsedMs,
  };
}

/** Adoptions that an approval allows are recorded in the status, which has room for so many. */
const adoptionLimit = 500;

function adoptionIssues(count: number): readonly Issue[] {
  if (count <= adoptionLimit) return [];
  const message = `The plan adopts ${count} objects; with approval: Manual the limit is ${adoptionLimit}, split it into several plans.`;
  return [{ reason: "InvalidManifest", message }];
}

function actionOf({ view, dryRun, isRecreated = false }: MemberFinding): PreviewAction {
  return isRecreated ? "recreate" : (previewAction(view, dryRun) ?? "noop");
}

function findingIssues({ view, dryRun, isRecreated = false, unsafe = [] }: MemberFinding): readonly Issue[] {
  const refused = dryRun?.kind === "issue" && !isRecreated ? [dryRun.issue] : [];
  // What is unsafe says more than the server's refusal of the same change.
  return [...collisionOf(view), ...unsafe, ...refused];
}

/** An object with this name exists, and the lifecycle policy does not allow the plan to take it over. */
export function collisionOf(view: MemberView): readonly Issue[] {
  if (previewAction(view) !== undefined) return [];
  const { member, ownership, isUnapproved } = view;
  if (isUnapproved === true) return [lateArrival(member)];
  const { reason, found, remedy } = collisionText(ownership) ?? unowned;
  return [
    {
      reason,
      stage: member.stage,
      index: member.index,
      object: member.identity,
      message: `${describeIdentity(member.identity)} ${found}; ${remedy}.`,
    },
  ];
}

function lateArrival({ stage, index, identity }: Member): Issue {
  const message = `${describeIdentity(identity)} did not exist in this form when the plan was approved; approve a new plan that adopts it, or delete it yourself.`;
  return { reason: "Collision", stage, index, object: identity, message };
}

function escalationsOf({ view, dryRun }: MemberFinding): readonly Permission[] {
  if (dryRun?.kind !== "missingPermission") return [];
  const { identity } = view.member;
  // What is missing is the permission on the role, which the plan names itself.
  if (identity.kind.endsWith("Binding")) return [bindingRight(view.member)];
  return [permissionFor(view.member, "escalate", view.kind?.plural ?? identity.kind.toLowerCase())];
}

function permissionFor({ identity }: Member, verb: string, resource: string): Permission {
  const { namespace, name } = identity;
  return {
    verb,
    group: "rbac.authorization.k8s.io",
    resource,
    namespace,
    name,
  };
}

/** Content of an approval: which object, in its current state, becomes what. */
function traceOf({ member, live }: MemberView, action: PreviewAction): readonly unknown[] {
  return [member.key, member.digest, action, live === undefined ? "" : liveTrace(live)];
}

/**
 * Fingerprint of a live object for a preview: its uid and its content without what
 * the server and controllers write. Stores keep no data of ConfigMaps and Secrets and no pod templates, so that the generation
 * stands for these; kinds without one and without a status, such as ConfigMaps, Secrets and Roles, change their resourceVersion
 * with their content only.
 */
export function liveTrace(live: KubeObject): string {
  const { metadata, ...rest } = live;
  const { uid, resourceVersion, generation, managedFields: _fields, ...kept } = metadata;
  const hasStatus = fieldOf(live, "status") !== undefined;
  const version = generation ?? (hasStatus ? "" : resourceVersion);
  return digestOf([uid, version, kept, { ...rest, status: undefined }]);
}

/** The same for an object of which only metadata was read. */
export function metadataTrace({ metadata }: KubeObject): string {
  const { uid, generation, resourceVersion, labels } = metadata;
  return digestOf([uid, generation ?? resourceVersion, labels]);
}

/**
 * All known problems of the plan. Which namespaces exist is reported only to an account with
 * every permission that the plan needs in them.
 */
export function issuesOf({ content, replacement, dependencies, preflight }: Seen): readonly Issue[] {
  const isAllowed = preflight?.missingPermissions.length === 0;
  const own = content.issues.filter(({ reason }) => isAllowed || reason !== "NamespaceMissing");
  return [...own, ...replacement.issues, ...(dependencies?.issues ?? []), ...(preflight?.issues ?? [])];
}

/** All issues in one text: where, which field, what. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(describeIssue).join(" ");
}

function describeIssue({ stage, index, field, message }: Issue): string {
  const location = [
    ...(stage === undefined ? [] : [`stage ${stage}`]),
    ...(index === undefined ? [] : [`resource ${index}`]),
    ...(field === undefined ? [] : [field]),
  ].join(", ");
  return location === "" ? message : `${location}: ${message}`;
}
