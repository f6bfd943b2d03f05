import type { InstallPlan } from "@quartermaster/api";
import type { ResourceState } from "@quartermaster/health";

import { exceptionText } from "../drift/revert-exception.ts";
import type { Content } from "../manifest/content.ts";
import { describeIdentity, type IdentityKey } from "../model/identity.ts";
import { collisionText } from "../ownership/collision-text.ts";
import { reasons } from "../reasons.ts";
import type { MemberView, Seen } from "../seen.ts";

const letters: Readonly<Record<ResourceState, string>> = {
  Ready: "R",
  Suspended: "S",
  InProgress: "P",
  Failed: "F",
  Missing: "M",
  Drifted: "D",
  Conflict: "C",
  Terminating: "T",
  Unknown: "U",
  Waiting: "-",
};

/** State of each object for the status: one letter per object, one text per stage. */
export function memberStates({ plan, members, content }: Seen): readonly string[] {
  const seen = members.map(({ member, state }) => ({ ...member, letter: letters[state] }));
  const lost = content.unresolved.map((location) => ({ ...location, letter: letters.Unknown }));
  return byStage(plan, [...seen, ...lost]).map((locations) => locations.map(({ letter }) => letter).join(""));
}

/**
 * Objects that were at work or done when the status was last written. It distinguishes a Job that its time to live removed while no
 * operator ran from one that never ran.
 */
export function startedMembers(
  plan: InstallPlan,
  { members, unresolved }: Pick<Content, "members" | "unresolved">,
): ReadonlySet<IdentityKey> {
  const locations = byStage<Location & { readonly key?: IdentityKey }>(plan, [...members, ...unresolved]);
  const started = locations.flatMap((stage, stageIndex) => {
    const states = plan.status?.states?.[stageIndex] ?? "";
    // A status of another content says nothing of this one.
    if (states.length !== stage.length) return [];
    return stage.filter((_, at) => states[at] === letters.Ready || states[at] === letters.InProgress);
  });
  return new Set(started.flatMap(({ key }) => key ?? []));
}

interface Location {
  readonly stage: string;
  readonly index: number;
}

function byStage<P extends Location>(
  { spec }: InstallPlan,
  locations: readonly P[],
): readonly (readonly P[])[] {
  const grouped = Map.groupBy(locations, ({ stage }) => stage);
  return spec.stages.map(({ name }) =>
    (grouped.get(name) ?? []).toSorted((one, other) => one.index - other.index),
  );
}

/** Why an object is not ready, in one word and one sentence. */
export function whyOf(view: MemberView): { readonly reason: string; readonly message: string } {
  const { member, state, failure, ownership, health, drift, blockedBy, exception } = view;
  const name = describeIdentity(member.identity);
  if (failure !== undefined) return { reason: failure.reason, message: failure.message };
  const taken = collisionText(ownership);
  if (taken !== undefined) return { reason: taken.reason, message: `${name} ${taken.found}.` };
  if (state === "Missing") return { reason: reasons.missing, message: `${name} does not exist.` };
  if (state === "Drifted")
    return {
      reason: reasons.drifted,
      message: `${name} was changed at ${[...drift.paths, ...drift.additions].slice(0, 3).join(", ") || "its owner labels"}${exception === undefined ? "" : `; ${exceptionText(exception)}`}.`,
    };
  if (health !== undefined) return { reason: health.reason, message: `${name}: ${health.message}` };
  if (blockedBy !== undefined)
    return { reason: blockedBy.reason, message: `${name} waits: ${blockedBy.message}.` };
  return { reason: state, message: `${name} has not been applied yet.` };
}
