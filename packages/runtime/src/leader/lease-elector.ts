import type { Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import type { NamespacedRef } from "../object/kube-object.ts";
import { type Log, silentLog } from "../reconcile/log.ts";
import { pause } from "../system/pause.ts";
import type { System, Timer } from "../system/system.ts";
import { unreachable } from "../unreachable.ts";
import {
  actsUntilMs,
  type Election,
  type ElectionSettings,
  isSuperseded,
  mayAct,
  nextStep,
  noteHeld,
  noteRead,
  notSeen,
  stepDown,
} from "./election.ts";
import type { LeaderElector } from "./leader-elector.ts";
import {
  createdLease,
  type Lease,
  leases,
  type LeaseWriter,
  releasedLease,
  renewedLease,
  takenLease,
} from "./lease.ts";

/** Hooks for metrics. */
export interface LeaseObserver {
  leaseHeld?(event: { readonly lease: string; readonly isHeld: boolean }): void;
  /** A renewal without a read did not succeed; the lease had to be read. */
  leaseSlowPath?(event: { readonly lease: string }): void;
}

/** Options of an elector. */
export interface LeaseElectorOptions {
  /** Must not be fenced by this elector: it writes the lease itself. */
  readonly client: Pick<Client, "find" | "create" | "replace">;
  readonly system: System;
  readonly lease: NamespacedRef;
  /** Unique per process, e.g. the pod's name and a random id. */
  readonly identity: string;
  /** How long the others wait for a silent holder (default: 15 s). */
  readonly leaseMs?: number;
  /** How long a holder acts without a renewal; less than `leaseMs` (default: 10 s). */
  readonly renewDeadlineMs?: number;
  /** Between two attempts, lengthened at random by up to a fifth (default: 2 s). */
  readonly retryMs?: number;
  readonly log?: Log;
  readonly observer?: LeaseObserver;
}

/** A LeaderElector whose leadership can be requested at any moment. */
export interface FencedElector extends LeaderElector {
  /** Whether a write may leave now. Goes by the monotonic clock, so that it is right even before any timer has fired. */
  mayWrite(): boolean;
  /** How long writes may still leave without a renewal; 0 when they may not. */
  writeBudgetMs(): number;
}

/** Takes part in an election over a Lease, as client-go does. Guarantees: see `Election`. */
export class LeaseElector implements FencedElector {
  readonly #options: LeaseElectorOptions;
  readonly #settings: ElectionSettings;
  readonly #retryMs: number;
  readonly #log: Log;
  #election: Election = notSeen;
  #term: TermCalls | undefined;
  #expiry: Timer | undefined;

  constructor(options: LeaseElectorOptions) {
    const { identity, leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
    if (!(leaseMs > renewDeadlineMs && renewDeadlineMs > retryMs * longestJitter)) {
      throw new RangeError("a lease must last longer than its renew deadline, and that longer than a retry");
    }
    this.#options = options;
    this.#settings = { identity, leaseMs, renewDeadlineMs };
    this.#retryMs = retryMs;
    this.#log = (options.log ?? silentLog).with({ lease: options.lease.name, identity });
  }

  mayWrite(): boolean {
    return this.writeBudgetMs() > 0;
  }

  writeBudgetMs(): number {
    const nowMs = this.#options.system.monotonicMs();
    if (this.#term === undefined || !mayAct(this.#election, this.#settings, nowMs)) return 0;
    return (actsUntilMs(this.#election, this.#settings) ?? nowMs) - nowMs;
  }

  async run(signal: AbortSignal, onStart: () => void, onStop: () => void): Promise<void> {
    while (!signal.aborted) {
      await this.#attempt(signal, { onStart, onStop });
      await this.#pause(signal);
    }
    this.#lose("given back");
    if (this.#election.seen?.lease?.spec?.holderIdentity === this.#settings.identity) await this.#release();
  }

  async #attempt(signal: AbortSignal, calls: TermCalls): Promise<void> {
    // After a blocked event loop this may run before the timer that says the same.
    if (!this.mayWrite()) this.#lose("not renewed in time");
    try {
      const isRenewed = this.#term !== undefined && (await this.#renewUnseen(signal, calls));
      if (!isRenewed) await this.#observeAndAct(signal, calls);
    } catch (error) {
      if (!signal.aborted) this.#log.debug("election attempt failed", { code: classify(error), err: error });
    }
  }

  /** The usual renewal: one request. False when it did not go through and the lease has to be looked at. */
  async #renewUnseen(signal: AbortSignal, calls: TermCalls): Promise<boolean> {
    const lease = this.#election.seen?.lease;
    if (lease === undefined) return false;
    try {
      await this.#hold(async (options) => await this.#renew(lease, options), { signal, calls });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      this.#options.observer?.leaseSlowPath?.({ lease: this.#options.lease.name });
      this.#log.debug("renewal failed, lease is looked at", { code: classify(error) });
      return false;
    }
  }

  async #observeAndAct(signal: AbortSignal, calls: TermCalls): Promise<void> {
    const { client, system, lease: ref } = this.#options;
    const lease = await client.find(leases, ref, this.#limits(signal));
    this.#election = noteRead(this.#election, lease, system.monotonicMs());
    if (isSuperseded(this.#election, this.#settings)) this.#lose("another holder has the lease");
    const step = nextStep(this.#election, this.#settings, system.monotonicMs());
    switch (step.kind) {
      case "wait":
        return;
      case "create":
        await this.#hold(
          async (options) => await client.create(leases, createdLease(ref, this.#writer()), options),
          { signal, calls },
        );
        return;
      case "take":
        await this.#hold(
          async (options) => await client.replace(leases, takenLease(step.lease, this.#writer()), options),
          { signal, calls },
        );
        return;
      case "renew":
        await this.#hold(async (options) => await this.#renew(step.lease, options), { signal, calls });
        return;
      default:
        unreachable(step);
    }
  }

  async #renew(lease: Lease, options: Limits): Promise<Lease> {
    return await this.#options.client.replace(leases, renewedLease(lease, this.#writer()), options);
  }

  /** Writes the lease as ours. A response that comes after the deadline, as when the loop was blocked, is worth nothing. */
  async #hold(
    write: (options: Limits) => Promise<Lease>,
    { signal, calls }: { readonly signal: AbortSignal; readonly calls: TermCalls },
  ): Promise<void> {
    const { system } = this.#options;
    const sentMs = system.monotonicMs();
    const lease = await write(this.#limits(signal));
    const held = noteHeld(lease, sentMs);
    if (signal.aborted || !mayAct(held, this.#settings, system.monotonicMs())) {
      this.#election = { ...held, renewedMs: this.#election.renewedMs };
      return;
    }
    this.#election = held;
    this.#expireInTime();
    if (this.#term === undefined) this.#begin(calls);
  }

  #begin(calls: TermCalls): void {
    this.#term = calls;
    this.#log.info("lease is held", { transitions: this.#election.seen?.lease?.spec?.leaseTransitions });
    this.#options.observer?.leaseHeld?.({ lease: this.#options.lease.name, isHeld: true });
    calls.onStart();
  }

  #expireInTime(): void {
    const { system } = this.#options;
    const untilMs = actsUntilMs(this.#election, this.#settings) ?? 0;
    this.#expiry?.cancel();
    this.#expiry = system.setTimer(untilMs - system.monotonicMs(), () => {
      this.#lose("not renewed in time");
    });
  }

  #lose(why: string): void {
    const term = this.#term;
    this.#election = stepDown(this.#election);
    if (term === undefined) return;
    this.#term = undefined;
    this.#expiry?.cancel();
    this.#log.info("lease is no longer held", { why });
    this.#options.observer?.leaseHeld?.({ lease: this.#options.lease.name, isHeld: false });
    term.onStop();
  }

  /** A holder that stops says so, and the next one need not wait. The lease runs out anyway if this fails. */
  async #release(): Promise<void> {
    try {
      // A renewal that was broken off may still arrive and make our version an old one; hence more than one attempt.
      for (let isFree = false, attempts = 3; !isFree && attempts > 0; attempts -= 1)
        isFree = await this.#tryRelease();
    } catch (error) {
      this.#log.warn("lease could not be given back", { code: classify(error), err: error });
    }
  }

  async #tryRelease(): Promise<boolean> {
    const { client, system, lease: ref } = this.#options;
    const limits = { timeoutMs: this.#settings.renewDeadlineMs / 5 };
    const lease = await client.find(leases, ref, limits);
    if (lease?.spec?.holderIdentity !== this.#settings.identity) return true;
    try {
      await client.replace(leases, releasedLease(lease, { wallMs: system.wallMs() }), limits);
      return true;
    } catch (error) {
      if (classify(error) === "conflict") return false;
      throw error;
    }
  }

  /** Until the next attempt; a follower is there at the moment the lease runs out. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { system } = this.#options;
    const nowMs = system.monotonicMs();
    const retryMs = this.#retryMs * (1 + system.random() * (longestJitter - 1));
    const step = nextStep(this.#election, this.#settings, nowMs);
    const dueMs = step.kind === "wait" && step.untilMs > nowMs ? step.untilMs - nowMs : retryMs;
    await pause(system, Math.min(retryMs, dueMs), signal);
  }

  #writer(): LeaseWriter {
    const { identity, leaseMs } = this.#settings;
    return { identity, leaseMs, wallMs: this.#options.system.wallMs() };
  }

  #limits(signal: AbortSignal): Limits {
    return { signal, timeoutMs: this.#settings.renewDeadlineMs / 2 };
  }
}

interface TermCalls {
  readonly onStart: () => void;
  readonly onStop: () => void;
}

interface Limits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Stand-bys do not read in step, and a lease that was given back is taken within 3 s. */
const longestJitter = 1.2;
