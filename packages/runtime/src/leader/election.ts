import { deepEqual } from "../object/deep-equal.ts";
import type { Lease } from "./lease.ts";

/**
 * State of one candidate. Times are its own monotonic clock: no other client's clock is ever trusted.
 *
 * Guarantee: at most one candidate `mayAct` at a time, as long as the API server takes writes by resourceVersion, clocks run
 * at rates that differ by less than `leaseMs / renewDeadlineMs`, and no one edits the lease by hand. A holder counts from
 * the moment it *sent* its last renewal and stops after the renew deadline; the others count from the moment they *saw* it
 * and wait for the longer lease duration. Caveat: the monotonic clock of a suspended machine stands still.
 */
export interface Election {
  /** The last lease seen, and since when it is unchanged. Undefined until the first response of the API server. */
  readonly seen: SeenLease | undefined;
  /** When our last successful write was sent; undefined while following. */
  readonly renewedMs: number | undefined;
}

/** A lease, or its absence, with the moment it was first seen so. */
export interface SeenLease {
  readonly lease: Lease | undefined;
  readonly sinceMs: number;
  /** When a lease that existed was found deleted or created again: its holder may still act, and is waited out. */
  readonly removedMs: number | undefined;
}

/** Who takes part, and how long things last. */
export interface ElectionSettings {
  /** Must be unique per process, e.g. host name and a random id. */
  readonly identity: string;
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
}

export type ElectionStep =
  | { readonly kind: "create" }
  /** The lease of another holder that expired or was released. */
  | { readonly kind: "take"; readonly lease: Lease }
  | { readonly kind: "renew"; readonly lease: Lease }
  /** Nothing can change before this moment unless the lease does. */
  | { readonly kind: "wait"; readonly untilMs: number };

/** Before the first read. */
export const notSeen: Election = { seen: undefined, renewedMs: undefined };

/** The candidate has read the lease; `nowMs` is when the response arrived. */
export function noteRead(election: Election, lease: Lease | undefined, nowMs: number): Election {
  const { seen } = election;
  if (seen !== undefined && isUnchanged(seen.lease, lease)) {
    return { ...election, seen: { ...seen, lease } };
  }
  const removedMs = isSameLease(seen?.lease, lease) ? seen?.removedMs : nowMs;
  return { ...election, seen: { lease, sinceMs: nowMs, removedMs } };
}

/** The candidate has written the lease as its own; `sentMs` is when the request left, never when the response came. */
export function noteHeld(lease: Lease, sentMs: number): Election {
  return { seen: { lease, sinceMs: sentMs, removedMs: undefined }, renewedMs: sentMs };
}

/** The candidate no longer counts as the holder. */
export function stepDown(election: Election): Election {
  return { ...election, renewedMs: undefined };
}

/** Until when the candidate may act; undefined while following. */
export function actsUntilMs({ renewedMs }: Election, settings: ElectionSettings): number | undefined {
  return renewedMs === undefined ? undefined : renewedMs + settings.renewDeadlineMs;
}

/** The fence: whether a write may leave at this moment. */
export function mayAct(election: Election, settings: ElectionSettings, nowMs: number): boolean {
  const untilMs = actsUntilMs(election, settings);
  return untilMs !== undefined && nowMs < untilMs;
}

/** Whether the lease that was seen names another holder, so that a holder has to stop immediately. */
export function isSuperseded({ seen }: Election, { identity }: ElectionSettings): boolean {
  return seen?.lease !== undefined && holderOf(seen.lease) !== identity;
}

/** The decision. Call it after the lease was read. */
export function nextStep(election: Election, settings: ElectionSettings, nowMs: number): ElectionStep {
  const { seen } = election;
  if (seen === undefined) return { kind: "wait", untilMs: nowMs };
  const freeMs = (seen.removedMs ?? Number.NEGATIVE_INFINITY) + settings.leaseMs;
  if (nowMs < freeMs && !mayAct(election, settings, nowMs)) return { kind: "wait", untilMs: freeMs };
  if (seen.lease === undefined) return { kind: "create" };
  const holder = holderOf(seen.lease);
  if (holder === settings.identity) return { kind: "renew", lease: seen.lease };
  const untilMs = seen.sinceMs + durationMsOf(seen.lease, settings);
  if (holder === "" || nowMs >= untilMs) return { kind: "take", lease: seen.lease };
  return { kind: "wait", untilMs };
}

function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity ?? "";
}

/** The holder says how long it may keep silent; where it does not, the common setting counts. */
function durationMsOf({ spec }: Lease, { leaseMs }: ElectionSettings): number {
  const seconds = spec?.leaseDurationSeconds ?? 0;
  return seconds > 0 ? seconds * 1_000 : leaseMs;
}

function isUnchanged(one: Lease | undefined, other: Lease | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return isSameLease(one, other) && deepEqual(one.spec, other.spec);
}

/** Whether what was seen before is still there, in whatever state; also when nothing was seen before. */
function isSameLease(before: Lease | undefined, now: Lease | undefined): boolean {
  return before === undefined || before.metadata.uid === now?.metadata.uid;
}
