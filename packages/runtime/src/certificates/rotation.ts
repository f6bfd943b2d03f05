import type { CertifiedKey } from "./certificate-source.ts";

/** A CA with the times that decide upon it, wall clock. */
export interface Ca extends CertifiedKey {
  /** When it was made known to those who trust by it. */
  readonly announcedMs: number;
  readonly expiresMs: number;
}

/** The CAs in the shared Secret: all of them are trusted. */
export interface CaSet {
  readonly newest: Ca;
  readonly previous?: Ca;
}

/** How long things last. Each must leave room for the ones after it: lifetime / 3 > propagation + retirement. */
export interface RotationTimes {
  /** Of a CA; renewed after two thirds. */
  readonly caMs: number;
  /** Of a serving certificate; renewed after two thirds. */
  readonly servingMs: number;
  /** A new CA signs nothing before those who trust by it have surely heard of it. */
  readonly propagationMs: number;
  /** An old CA stays trusted until no one serves with a certificate of it any more. */
  readonly retirementMs: number;
}

/** Next step for the Secret. */
export type RotationStep = "keep" | "announce" | "retire";

/**
 * The way of a CA: announced → signs after `propagationMs` → succeeded by another after two thirds of its life →
 * trusted until that one has signed for `retirementMs`. Every replica comes to the same conclusion from the Secret alone.
 */
export function rotationStep({ newest, previous }: CaSet, times: RotationTimes, nowMs: number): RotationStep {
  if (nowMs >= announceDueMs(newest)) return "announce";
  return previous !== undefined && nowMs >= retireDueMs(newest, times) ? "retire" : "keep";
}

/** The CA that signs now. */
export function signerOf({ newest, previous }: CaSet, times: RotationTimes, nowMs: number): Ca {
  const isKnown = nowMs >= newest.announcedMs + times.propagationMs;
  return previous === undefined || isKnown || nowMs >= previous.expiresMs ? newest : previous;
}

/** The next moment at which the Secret or the signer changes on its own. */
export function nextRotationMs({ newest, previous }: CaSet, times: RotationTimes, nowMs: number): number {
  const dueMs = [announceDueMs(newest)];
  if (previous !== undefined)
    dueMs.push(newest.announcedMs + times.propagationMs, retireDueMs(newest, times));
  return Math.min(...dueMs.filter((ms) => ms > nowMs));
}

/** The published bundle: old and new. */
export function bundleOf({ newest, previous }: CaSet): string {
  return [previous, newest].map((ca) => ca?.certificatePem ?? "").join("");
}

/** When something that holds from `startMs` to `endMs` is renewed: after two thirds, a little earlier at random. */
export function renewalMs(startMs: number, endMs: number, random: number): number {
  return startMs + (endMs - startMs) * (2 / 3 - random / 20);
}

function announceDueMs({ announcedMs, expiresMs }: Ca): number {
  return renewalMs(announcedMs, expiresMs, 0);
}

function retireDueMs({ announcedMs }: Ca, { propagationMs, retirementMs }: RotationTimes): number {
  return announcedMs + propagationMs + retirementMs;
}
