import {
  type Health,
  type HealthFacts,
  healthOf,
  opensGate,
  type ResourceState,
  worse,
} from "@quartermaster/health";
import { fieldOf, groupOf, type Kind, type KubeObject, unreachable, type Why } from "@quartermaster/runtime";

import { type Drift, driftOf, hasDrifted, noDrift } from "../drift/drift.ts";
import { revertException } from "../drift/revert-exception.ts";
import type { IdentityKey } from "../model/identity.ts";
import type { Member } from "../model/member.ts";
import type { WriteFailure } from "../model/write-failure.ts";
import type { OwnerLabels } from "../ownership/owner-labels.ts";
import { type Ownership, type OwnershipContext, ownershipOf } from "../ownership/ownership.ts";
import type { PlanMemory } from "../plan-memory.ts";
import type { MemberView } from "../seen.ts";
import { isWorthADryRun, observationDueInMs, mayNotListPods } from "./pod-observations.ts";

export interface ViewFacts {
  readonly context: OwnershipContext;
  readonly ownerLabels: OwnerLabels;
  readonly memory: PlanMemory;
  /** The plan has been installed once: what is absent now is missing, not awaited. */
  readonly isPlanInstalled: boolean;
  /** Objects that had begun their work when the status was last written. */
  readonly started: ReadonlySet<IdentityKey>;
  readonly nowMs: number;
  /** Wall clock: annotations hold times of users. */
  readonly wallMs: number;
  readonly kindOf: (member: Member) => Kind | undefined;
  readonly find: (member: Member) => KubeObject | undefined;
  readonly blockedBy: (member: Member) => Why | undefined;
  /** Uids of what the plan may adopt; undefined where no approval limits it. */
  readonly adoptable?: ReadonlySet<string> | undefined;
  /** Whether a controller that is not part of Kubernetes writes its status. */
  readonly hasOwnStatus: (member: Member) => boolean;
  readonly health: Omit<HealthFacts, "readiness" | "stateAgeMs">;
}

/** State of one object of the plan. */
export function memberView(member: Member, facts: ViewFacts): MemberView {
  const { memory, context, nowMs } = facts;
  const live = facts.find(member);
  const ownership = ownershipOf(live, context);
  const own =
    live !== undefined && ownership.kind === "owned" ? judgeOwn(member, live, facts) : { drift: noDrift };
  const failure = applyFailureOf(member, memory);
  const isExpired = ownership.kind === "absent" && hasExpired(member, facts);
  if (ownership.kind === "owned" && hasStartTime(live)) memory.startedJobs.add(member.key);
  const hasWriteFailure = failure !== undefined && failure.kind !== "transient";
  return {
    member,
    ownership,
    isExpired: isExpired ? true : undefined,
    isUnapproved: isUnapproved(ownership, live, facts) ? true : undefined,
    state: hasWriteFailure ? "Failed" : stateOf(ownership, own, { ...facts, isExpired }),
    kind: facts.kindOf(member),
    live,
    failure,
    revertConflict: memory.reverts.conflictOver(member.key, nowMs),
    ...own,
    blockedBy: facts.blockedBy(member),
  };
}

/** Failures of other writes are reported apart from members. */
function applyFailureOf({ key }: Member, { writeFailures }: PlanMemory): WriteFailure | undefined {
  const failure = writeFailures.get(key);
  return failure?.action === "apply" ? failure : undefined;
}

function isUnapproved({ kind }: Ownership, live: KubeObject | undefined, { adoptable }: ViewFacts): boolean {
  const isOfOthers = kind === "unowned" || kind === "ownedByOther";
  return isOfOthers && adoptable !== undefined && !adoptable.has(live?.metadata.uid ?? "");
}

type Own = Pick<MemberView, "drift" | "health" | "exception">;

function judgeOwn(member: Member, live: KubeObject, facts: ViewFacts): Own {
  return {
    drift: rememberedDrift(member, live, facts),
    health: healthOfMember(member, live, facts),
    exception: revertException(live, facts.wallMs),
  };
}

/** Live objects are never edited, so a verdict on one holds as long as it is the live one. */
const drifts = new WeakMap<KubeObject, { readonly proof: string; readonly drift: Drift }>();

function rememberedDrift(
  member: Member,
  live: KubeObject,
  { ownerLabels, memory }: Pick<ViewFacts, "ownerLabels" | "memory">,
): Drift {
  const noted = memory.dropped.get(member.key);
  const dropped = noted?.digest === member.digest ? noted.paths : [];
  const proof = [ownerLabels.revision, member.digest, dropped.length, JSON.stringify(member.lifecycle)].join(
    "/",
  );
  const known = drifts.get(live);
  if (known?.proof === proof) return known.drift;
  const drift = driftOf(member, live, { ownerLabels, dropped });
  drifts.set(live, { proof, drift });
  return drift;
}

function healthOfMember(member: Member, live: KubeObject, facts: ViewFacts): Health {
  const { memory, nowMs, health, isPlanInstalled } = facts;
  const observation = memory.podObservations.get(member.key);
  const verdict = healthOf(live, {
    ...health,
    podTrouble: observation?.trouble,
    readiness: member.readiness,
    stateAgeMs: memory.ageMs(live, nowMs),
    // Later its controller has had its say, and an operator that starts again must not doubt what it finds.
    hasStatusSubresource: !isPlanInstalled && facts.hasOwnStatus(member),
  });
  if (observation === undefined || opensGate(verdict.state)) return verdict;
  const dueInMs = observationDueInMs(observation, live, nowMs);
  const output = isWorthADryRun(observation)
    ? { ...verdict, message: `${verdict.message} ${mayNotListPods}` }
    : verdict;
  if (dueInMs === undefined) return output;
  return { ...output, recheckAfterMs: Math.min(verdict.recheckAfterMs ?? dueInMs, dueInMs) };
}

/** A Job that removes itself was not deleted by anybody. An installed plan has seen it end. */
function hasExpired({ key, manifest }: Member, { memory, isPlanInstalled, started }: ViewFacts): boolean {
  if (manifest.kind !== "Job" || groupOf(manifest.apiVersion) !== "batch") return false;
  const ttl = fieldOf(fieldOf(manifest, "spec"), "ttlSecondsAfterFinished");
  return typeof ttl === "number" && (isPlanInstalled || started.has(key) || memory.startedJobs.has(key));
}

function hasStartTime(live: KubeObject | undefined): boolean {
  return live?.kind === "Job" && fieldOf(fieldOf(live, "status"), "startTime") !== undefined;
}

function stateOf(
  { kind }: Ownership,
  { drift, health }: Own,
  { isPlanInstalled, isExpired }: Pick<ViewFacts, "isPlanInstalled"> & { readonly isExpired: boolean },
): ResourceState {
  switch (kind) {
    case "absent":
      if (isExpired) return "Ready";
      return isPlanInstalled ? "Missing" : "Waiting";
    case "inherited":
      return "Waiting";
    case "unowned":
    case "ownedByOther":
      return isPlanInstalled ? "Conflict" : "Waiting";
    case "owned":
      return worse(health?.state ?? "Unknown", hasDrifted(drift) ? "Drifted" : "Ready");
    default:
      return unreachable(kind);
  }
}
