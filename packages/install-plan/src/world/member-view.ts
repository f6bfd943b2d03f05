import type { Kind, KubeObject } from "@quartermaster/runtime";

import { healthOf, type Health, type HealthFacts, type ResourceState, worse } from "../health/index.ts";
import type { Marker } from "../marks.ts";
import type { Member } from "../member.ts";
import type { PlanMemory } from "../plan-memory.ts";
import { type Drift, driftOf, hasDrifted, noDrift } from "./drift.ts";
import type { MemberView } from "./seen.ts";
import { type Family, type Standing, standingOf } from "./standing.ts";

/** What a member's view is made from. */
export interface ViewFacts {
  readonly family: Family;
  readonly marker: Marker;
  readonly memory: PlanMemory;
  /** The plan has been installed once: what is absent now is missing, not awaited. */
  readonly isInstalled: boolean;
  readonly nowMs: number;
  readonly kindOf: (member: Member) => Kind | undefined;
  readonly find: (member: Member) => KubeObject | undefined;
  readonly blockedBy: (member: Member) => string | undefined;
  readonly health: Omit<HealthFacts, "readiness" | "stateAgeMs">;
}

/** How one object of the plan stands. */
export function memberView(member: Member, facts: ViewFacts): MemberView {
  const { memory, marker, family, nowMs } = facts;
  const live = facts.find(member);
  const kind = facts.kindOf(member);
  const standing = standingOf(live, family);
  const isOurs = standing.kind === "mine";
  const drift = live !== undefined && isOurs ? rememberedDrift(member, live, { marker, memory }) : noDrift;
  const health = live !== undefined && isOurs ? healthOfMember(member, live, facts) : undefined;
  const trouble = memory.troubles.get(member.key);
  const contest = memory.contestOver(member.key, nowMs);
  const blockedBy = facts.blockedBy(member);
  const view = {
    member,
    standing,
    drift,
    state: stateOf({ standing, drift, health, hasTrouble: isLasting(trouble?.kind) }, facts),
  };
  return {
    ...view,
    ...(kind === undefined ? {} : { kind }),
    ...(live === undefined ? {} : { live }),
    ...(health === undefined ? {} : { health }),
    ...(trouble === undefined ? {} : { trouble }),
    ...(contest === undefined ? {} : { contest }),
    ...(blockedBy === undefined ? {} : { blockedBy }),
  };
}

/** Live objects are never edited, so a verdict on one holds as long as it is the live one. */
const drifts = new WeakMap<KubeObject, { readonly proof: string; readonly drift: Drift }>();

function rememberedDrift(
  member: Member,
  live: KubeObject,
  { marker, memory }: { readonly marker: Marker; readonly memory: PlanMemory },
): Drift {
  const noted = memory.dropped.get(member.key);
  const dropped = noted?.digest === member.digest ? noted.paths : [];
  const proof = [marker.revision, member.digest, dropped.length, JSON.stringify(member.lifecycle)].join("/");
  const known = drifts.get(live);
  if (known?.proof === proof) return known.drift;
  const drift = driftOf(member, live, { marker, dropped });
  drifts.set(live, { proof, drift });
  return drift;
}

function healthOfMember(member: Member, live: KubeObject, { memory, nowMs, health }: ViewFacts): Health {
  const { uid = "", generation = 0 } = live.metadata;
  const stateAgeMs = memory.elapsedMs(`health/${uid}/${generation}`, nowMs);
  return healthOf(live, { ...health, readiness: member.readiness, stateAgeMs });
}

interface StateFacts {
  readonly standing: Standing;
  readonly drift: Drift;
  readonly health: Health | undefined;
  readonly hasTrouble: boolean;
}

function stateOf({ standing, drift, health, hasTrouble }: StateFacts, facts: ViewFacts): ResourceState {
  if (hasTrouble) return "Failed";
  switch (standing.kind) {
    case "absent":
      return facts.isInstalled ? "Missing" : "Waiting";
    case "inherited":
      return "Waiting";
    case "unowned":
    case "foreign":
      return facts.isInstalled ? "Conflict" : "Waiting";
    default:
      return worse(health?.state ?? "Unknown", hasDrifted(drift) ? "Drifted" : "Ready");
  }
}

function isLasting(kind: string | undefined): boolean {
  return kind !== undefined && kind !== "transient";
}
