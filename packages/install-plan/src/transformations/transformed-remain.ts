import { opensGate } from "@quartermaster/health";
import { waiting } from "@quartermaster/runtime";

import { staysBecause } from "../inventory/protection.ts";
import { transformationTargets } from "../manifest/transformation-problems.ts";
import { because, type Decision } from "../model/decision.ts";
import { describeIdentity, identityOf } from "../model/identity.ts";
import { stageIndexOf } from "../model/plan-status.ts";
import { describeLacking } from "../permissions/permission.ts";
import { type PlanAction, warn } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import { tryAgainLater } from "../retry/retry.ts";
import type { Seen } from "../seen.ts";
import type { Transformed } from "./transformed.ts";

/** An object that cannot coexist with the new one, such as the holder of a host port, is deleted before the first stage. */
export function exclusivesRemain(seen: Seen, now: Date): Decision | undefined {
  if (stageIndexOf(seen.plan) !== 0) return undefined;
  const exclusive = seen.transformed.filter(({ rule }) => rule.strategy === "DeleteBeforeCreate");
  return unreadableMatches(seen, now, exclusive) ?? remove(seen, now, exclusive);
}

export function transformedRemain(seen: Seen, now: Date): Decision | undefined {
  if (stageIndexOf(seen.plan) < seen.plan.spec.stages.length) return undefined;
  const patient = seen.transformed.filter(({ rule }) => rule.strategy === "CreateBeforeDelete");
  const refused = unreadableMatches(seen, now, patient);
  if (refused !== undefined) return refused;
  const open = patient.filter(({ matches }) => matches.length > 0);
  const early = open.find((transformed) => !isReplaced(transformed, seen));
  if (early !== undefined) {
    const why = because(
      reasons.finishing,
      `Transformation ${early.rule.name} is waiting for its targets to be ready.`,
    );
    return { phase: "Finishing", outcome: waiting(why, 60_000) };
  }
  return remove(seen, now, open);
}

/** The account may no longer read what they select: that must not count as nothing. A change of permissions brings us back. */
function unreadableMatches(seen: Seen, now: Date, transformed: readonly Transformed[]): Decision | undefined {
  const unreadable = transformed.flatMap((each) => each.unreadable);
  if (unreadable.length === 0) return undefined;
  return tryAgainLater(seen, now, because(reasons.permissionsMissing, describeLacking(seen, unreadable)));
}

function isReplaced({ rule }: Transformed, { members, content }: Seen): boolean {
  const targets = new Set(transformationTargets(rule, content.members).map(({ key }) => key));
  return members.filter(({ member }) => targets.has(member.key)).every(({ state }) => opensGate(state));
}

/** Objects that transformations select and keep, for the last reconcile before the plan is installed. */
export function keptByTransformations({ transformed }: Seen): readonly PlanAction[] {
  return warn({
    reason: "Protected",
    warnings: transformed.flatMap(({ kept }) =>
      kept.map(({ live, protectedBy }) => staysBecause(identityOf(live), protectedBy)),
    ),
  });
}

/** Objects that transformations select now and did not when the plan started: no preview showed them. */
export function lateMatches({ transformed }: Seen): readonly PlanAction[] {
  const warnings = transformed.flatMap(({ rule, late }) =>
    late.map(
      (object) =>
        `${describeIdentity(identityOf(object))} matches transformation ${rule.name} but did not when the plan started; it is kept.`,
    ),
  );
  return warn({ reason: "NotPreviewed", warnings });
}

function remove(seen: Seen, now: Date, transformed: readonly Transformed[]): Decision | undefined {
  const remaining = transformed.filter(({ matches }) => matches.length > 0);
  if (remaining.length === 0) return undefined;
  const [issue] = seen.transformationIssues;
  if (issue !== undefined) return tryAgainLater(seen, now, because(issue.reason, issue.message));
  const actions = remaining.flatMap(({ rule, kind, matches }): readonly PlanAction[] =>
    matches
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((live) => ({ kind: "delete", target: { kind, live }, propagation: rule.propagation })),
  );
  const isExclusive = remaining.some(({ rule }) => rule.strategy === "DeleteBeforeCreate");
  // At the end it is enough that they are being deleted; before the beginning they must be deleted.
  if (actions.length === 0 && !isExclusive) return undefined;
  const why = because(reasons.finishing, "Deleting the objects that transformations replace.");
  return {
    phase: isExclusive ? "Applying" : "Finishing",
    actions,
    outcome: waiting(why, 500),
  };
}
