import { describeIdentity, identityKey, identityOf } from "../identity.ts";
import type { Issue } from "../issue.ts";
import { digestOf } from "../manifest/canonical-json.ts";
import type { Member } from "../member.ts";
import type { Right } from "../permissions/rights.ts";
import type { DryRun } from "../plan-memory.ts";
import { deletedOf } from "./leftovers.ts";
import { previewAction } from "./preview-action.ts";
import type { Clearance, MemberView, PreviewAction, Seen } from "./seen.ts";

/** What the server answered about one member. */
export interface MemberFinding {
  readonly view: MemberView;
  /** Undefined where nothing had to be asked. */
  readonly dryRun?: DryRun;
  /** The object has to be made anew, and a dry run showed that it can be. */
  readonly isRecreated?: boolean;
  readonly unsafe?: readonly Issue[];
}

/** What is known besides the answers about members. */
export interface ClearanceFacts extends Pick<Seen, "transformed" | "transformationIssues" | "leftovers"> {
  /** What the server says to the jobs' templates. */
  readonly jobRuns: readonly DryRun[];
  readonly missingRights: readonly Right[];
  readonly elapsedMs: number;
}

/** All answers together, as one decision needs them. */
export function clearanceFrom(
  findings: readonly MemberFinding[],
  { missingRights, elapsedMs, transformed, transformationIssues, leftovers, jobRuns }: ClearanceFacts,
): Clearance {
  const actions = findings.map(actionOf);
  const dryRuns = [...findings.flatMap(({ dryRun }) => dryRun ?? []), ...jobRuns];
  const transients = dryRuns.filter((dryRun) => dryRun.kind === "transient");
  const jobIssues = jobRuns.flatMap((dryRun) => (dryRun.kind === "issue" ? [dryRun.issue] : []));
  const deletes = [
    ...transformed.flatMap(({ matches }) => matches),
    ...deletedOf(leftovers).map(({ live }) => live),
  ].map(identityOf);
  return {
    issues: [...findings.flatMap(issuesOf), ...jobIssues, ...transformationIssues],
    missingRights: [...missingRights, ...findings.flatMap(escalationsOf)],
    undecided: transients.map(({ message }) => message),
    retryAfterMs: Math.max(0, ...transients.map(({ retryAfterMs }) => retryAfterMs)),
    actions,
    deletes,
    digest: digestOf([
      ...findings.map(({ view }, index) => traceOf(view, actions[index] ?? "noop")),
      ...deletes.map((identity) => identityKey(identity)),
    ]),
    elapsedMs,
  };
}

function actionOf({ view, dryRun, isRecreated = false }: MemberFinding): PreviewAction {
  return isRecreated ? "recreate" : (previewAction(view, dryRun) ?? "noop");
}

function issuesOf({ view, dryRun, isRecreated = false, unsafe = [] }: MemberFinding): readonly Issue[] {
  const refused = dryRun?.kind === "issue" && !isRecreated ? [dryRun.issue] : [];
  // What is unsafe says more than the server's refusal of the same change.
  return [...collisionOf(view), ...unsafe, ...refused];
}

/** Somebody's object stands under the name, and the policy does not allow to take it over. */
export function collisionOf(view: MemberView): readonly Issue[] {
  if (previewAction(view) !== undefined) return [];
  const { member, standing } = view;
  const isForged = standing.kind === "unowned" && standing.isForged === true;
  const nobodys = isForged
    ? "bears labels of this plan that the plan did not set"
    : "exists already and is nobody's";
  const owner = standing.kind === "foreign" ? `belongs to ${standing.owner}` : nobodys;
  const remedy =
    standing.kind === "foreign" ? "adoption: Always takes it over" : "adoption: IfUnowned takes it over";
  return [
    {
      reason: isForged ? "NameTaken" : "Collision",
      stage: member.stage,
      index: member.index,
      object: member.identity,
      message: `${describeIdentity(member.identity)} ${owner}; ${remedy}.`,
    },
  ];
}

function escalationsOf({ view, dryRun }: MemberFinding): readonly Right[] {
  if (dryRun?.kind !== "missingRight") return [];
  const { identity } = view.member;
  const isBinding = identity.kind.endsWith("Binding");
  return [
    rightFor(view.member, isBinding ? "bind" : "escalate", view.kind?.plural ?? identity.kind.toLowerCase()),
  ];
}

function rightFor({ identity }: Member, verb: string, resource: string): Right {
  const { namespace, name } = identity;
  return {
    verb,
    group: "rbac.authorization.k8s.io",
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    name,
  };
}

/** What an approval is given for: which object, as it stands, becomes what. */
function traceOf({ member, live }: MemberView, action: PreviewAction): readonly unknown[] {
  return [member.key, member.digest, action, live?.metadata.uid ?? "", live?.metadata.generation ?? 0];
}
