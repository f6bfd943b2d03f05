import type { IdentityKey } from "../model/identity.ts";

/** The restorations of one plan's objects, by which a conflict with another client is recognized. */
export class RevertHistory {
  readonly #reverts = new Map<IdentityKey, readonly Revert[]>();

  note(key: IdentityKey, revert: Revert): void {
    const recent = (this.#reverts.get(key) ?? []).filter(({ atMs }) => revert.atMs - atMs < conflictWindowMs);
    this.#reverts.set(key, [...recent, revert]);
  }

  /** The client that keeps changing what is restored, and when the next attempt is due. */
  conflictOver(key: IdentityKey, nowMs: number): RevertConflict | undefined {
    const recent = (this.#reverts.get(key) ?? []).filter(({ atMs }) => nowMs - atMs < conflictMemoryMs);
    const last = recent.at(-1);
    if (last === undefined) return undefined;
    const inWindow = recent.filter(
      ({ manager, atMs }) => manager === last.manager && last.atMs - atMs < conflictWindowMs,
    );
    const allowed = last.isTakeover === true ? takeoversAllowed : revertsAllowed;
    if (inWindow.length <= allowed) return undefined;
    const growingMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** (inWindow.length - allowed - 1));
    const pauseMs = last.isTakeover === true ? longestPauseMs : growingMs;
    return { manager: last.manager, notBeforeMs: last.atMs + pauseMs };
  }
}

/** One restoration, and who had made it necessary. */
export interface Revert {
  readonly atMs: number;
  readonly manager: string;
  /** The whole object had become another plan's. */
  readonly isTakeover?: boolean | undefined;
}

/** Another client keeps changing a field back. */
export interface RevertConflict {
  readonly manager: string;
  readonly notBeforeMs: number;
}

const conflictWindowMs = 5 * 60_000;
const conflictMemoryMs = 20 * 60_000;
const revertsAllowed = 5;
/** Two plans that may both take over from anybody would continue for ever. */
const takeoversAllowed = 2;
const shortestPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;
