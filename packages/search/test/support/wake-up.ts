import { openSearchCluster } from "@quartermaster/api";
import type { Kind, Live, Outcome } from "@quartermaster/runtime";
import { wokenBy } from "@quartermaster/runtime/testing";

import type { EngineFacts, EngineHealth } from "../../src/engine/engine-facts.ts";
import { projectionOf } from "../../src/engine/engine-sample.ts";
import { ownedKinds } from "../../src/handover/predecessor.ts";
import { decideLane, type SearchLane } from "../../src/lane.ts";
import { ownerLabels } from "../../src/owner-labels.ts";
import type { Seen } from "../../src/seen.ts";
import { watchedBy } from "../../src/watched-by.ts";

/** When wake-ups are looked at. */
export const nowMs: number = Date.UTC(2026, 10, 17, 10);
/** One minute. */
export const minute = 60_000;
/** One hour. */
export const hour: number = 60 * minute;
/** A fact that is unknown. */
export const unreachable = { isKnown: false, why: "unreachable" } as const;

/** Health of a cluster in which all is well. */
export const green: EngineHealth = {
  status: "green",
  nodes: 3,
  dataNodes: 3,
  activeShards: 0,
  relocatingShards: 0,
  initializingShards: 0,
  unassignedShards: 0,
  pendingTasks: 0,
};
/** Status of a cluster that has formed. */
export const formed = { clusterUuid: "U", version: "2.19.4" };

/** How the cause of a reason goes, and what brings the cluster back then. */
export type WakeUp =
  /** The engine says something else: a sample differs. */
  | {
      readonly by: "engine";
      readonly lane?: SearchLane;
      readonly comes: Seen;
      readonly goes: Partial<EngineFacts>;
    }
  /** An object with our labels changes, or one that we own. */
  | {
      readonly by: "object";
      readonly kind: Kind;
      readonly lane?: SearchLane;
      readonly comes?: Seen;
      readonly goes?: Partial<Seen>;
    }
  /** An object that the spec, or the license, names; `followed.test.ts` shows that it is followed. */
  | {
      readonly by: "followed";
      readonly lane?: SearchLane;
      readonly comes?: Seen;
      readonly goes?: Partial<Seen>;
    }
  /** Time passes: the lane itself says when, and decides otherwise then. */
  | { readonly by: "time"; readonly lane: SearchLane; readonly comes: Seen; readonly afterMs: number }
  /** No event says that it is over: it is looked for again, at the latest after this time. */
  | {
      readonly by: "poll";
      readonly lane: SearchLane;
      readonly comes: Seen;
      readonly goes: Partial<Seen>;
      readonly withinMs: number;
    }
  /** A write that failed is repeated after a growing delay, at the latest after five minutes. */
  | { readonly by: "retry" }
  /** Only the user can end it, by an edit of the object itself. */
  | { readonly by: "edit"; readonly lane?: SearchLane; readonly comes?: Seen };

/** What a lane decides: its reason and when it looks again. */
export function decided(
  lane: SearchLane,
  seen: Seen,
  now: Date,
): { readonly reason: string; readonly againMs: number } {
  const { outcome } = decideLane(lane, seen, now);
  return { reason: "why" in outcome ? outcome.why.reason : outcome.kind, againMs: againMs(outcome) };
}

function againMs(outcome: Outcome): number {
  if (outcome.kind === "settled") return outcome.recheckAfterMs ?? Number.POSITIVE_INFINITY;
  return "retryAfterMs" in outcome
    ? (outcome.retryAfterMs ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
}

/** Whether a sample with these facts brings a cluster back that saw the others. */
export function isWokenBySample(before: EngineFacts, after: EngineFacts): boolean {
  return projectionOf(before) !== projectionOf(after);
}

/** Whether a change of an object with the labels of cluster `team/logs` brings it back, and no other cluster. */
export function isWokenByObject(kind: Kind): boolean {
  if (ownedKinds.includes(kind)) return true;
  const metadata = {
    name: "logs-x",
    namespace: "team",
    uid: "u",
    resourceVersion: "1",
    labels: { [ownerLabels.cluster]: "logs" },
  };
  const live: Live = { apiVersion: "v1", kind: kind.kind, metadata };
  const sources = watchedBy(openSearchCluster.kind).filter(({ source }) => {
    const of = "plural" in source ? source : source.kind;
    return of.kind === kind.kind && of.group === kind.group;
  });
  const events = [
    { type: "added", isInitial: false, new: live },
    {
      type: "updated",
      isInitial: false,
      old: live,
      new: { ...live, metadata: { ...metadata, resourceVersion: "2" } },
    },
    { type: "deleted", isInitial: false, old: live },
  ] as const;
  return (
    sources.length > 0 &&
    events.every((event) => {
      const refs = sources.flatMap((source) => wokenBy(source, event));
      return refs.length === 1 && refs[0]?.namespace === "team" && ["logs", "logs-x"].includes(refs[0].name);
    })
  );
}
