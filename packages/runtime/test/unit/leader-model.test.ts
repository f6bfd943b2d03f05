import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  type Election,
  type ElectionSettings,
  isSuperseded,
  mayAct,
  nextStep,
  noteHeld,
  noteRead,
  notSeen,
  stepDown,
} from "../../src/leader/election.ts";
import { createdLease, type Lease, releasedLease, renewedLease, takenLease } from "../../src/leader/lease.ts";
import { LeaseStore } from "../support/lease-store.ts";

type HttpResponse =
  | { readonly kind: "read"; readonly lease: Lease | undefined }
  | { readonly kind: "wrote"; readonly lease: Lease }
  | { readonly kind: "failed" };

/** A request on its way; `serve` is what the API server does when it arrives, whenever that is. */
interface Flight {
  readonly sentMs: number;
  readonly serve: () => HttpResponse;
  response: HttpResponse | undefined;
}

/** A candidate made of nothing but the pure functions, with a clock of its own that is off and runs fast or slow. */
class Candidate {
  readonly settings: ElectionSettings;
  readonly #store: LeaseStore;
  readonly #clock: (globalMs: number) => number;
  #election: Election = notSeen;
  #flight: Flight | undefined;
  /** Given up by the candidate, but still on their way. */
  readonly strays: Flight[] = [];

  constructor(
    identity: string,
    store: LeaseStore,
    clock: { readonly offsetMs: number; readonly rate: number },
  ) {
    this.settings = { identity, leaseMs: 15_000, renewDeadlineMs: 10_000 };
    this.#store = store;
    this.#clock = (globalMs) => clock.offsetMs + globalMs * clock.rate;
  }

  get hasSeenLease(): boolean {
    return this.#election.seen?.lease !== undefined;
  }

  mayWrite(globalMs: number): boolean {
    return mayAct(this.#election, this.settings, this.#clock(globalMs));
  }

  /** Reads the lease or, when `isRead` already, does what the decision says. */
  send(globalMs: number, doesWrite: boolean): void {
    if (this.#flight !== undefined) return;
    const nowMs = this.#clock(globalMs);
    const step = nextStep(this.#election, this.settings, nowMs);
    const writer = { ...this.settings, wallMs: Math.abs(Math.round(nowMs)) };
    const ref = { name: "l", namespace: "n" };
    const read = (): HttpResponse => ({ kind: "read", lease: this.#store.read() });
    const write = (lease: Lease) => (): HttpResponse => ({
      kind: "wrote",
      lease: this.#store.replace(lease),
    });
    const serve = ((): (() => HttpResponse) => {
      if (!doesWrite) return read;
      if (step.kind === "wait") return read;
      if (step.kind === "create")
        return () => ({ kind: "wrote", lease: this.#store.create(createdLease(ref, writer)) });
      return write(step.kind === "take" ? takenLease(step.lease, writer) : renewedLease(step.lease, writer));
    })();
    this.#flight = { sentMs: nowMs, serve: guarded(serve), response: undefined };
  }

  /** The request reaches the server. */
  arrive(): void {
    if (this.#flight !== undefined) this.#flight.response ??= this.#flight.serve();
  }

  /** The response reaches the candidate. */
  receive(globalMs: number): void {
    const flight = this.#flight;
    if (flight?.response === undefined) return;
    this.#flight = undefined;
    const nowMs = this.#clock(globalMs);
    if (flight.response.kind === "failed") return;
    if (flight.response.kind === "read") {
      this.#election = noteRead(this.#election, flight.response.lease, nowMs);
      if (isSuperseded(this.#election, this.settings)) this.#election = stepDown(this.#election);
      return;
    }
    this.#election = noteHeld(flight.response.lease, flight.sentMs);
  }

  /** The candidate waits no longer; the request may still arrive. */
  giveUp(): void {
    const flight = this.#flight;
    this.#flight = undefined;
    if (flight !== undefined && flight.response === undefined) this.strays.push(flight);
  }

  /** Stops acting, then gives the lease back; whether that request arrives is another matter. */
  release(globalMs: number): void {
    const lease = this.#election.seen?.lease;
    if (lease?.spec?.holderIdentity !== this.settings.identity || this.#flight !== undefined) return;
    this.#election = stepDown(this.#election);
    const released = releasedLease(lease, { wallMs: Math.abs(Math.round(this.#clock(globalMs))) });
    this.strays.push({
      sentMs: 0,
      serve: guarded(() => ({ kind: "wrote", lease: this.#store.replace(released) })),
      response: undefined,
    });
  }
}

function guarded(serve: () => HttpResponse): () => HttpResponse {
  return () => {
    try {
      return serve();
    } catch {
      return { kind: "failed" };
    }
  };
}

type OneMove = "send" | "begin" | "arrive" | "receive" | "giveUp" | "release" | "stray" | "round";

type Move =
  | {
      readonly kind: OneMove;
      readonly who: number;
    }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "remove" };

const who = fc.nat({ max: 2 });
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("round" as const), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("send" as const), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("begin" as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("arrive" as const), who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("receive" as const), who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("giveUp" as const), who }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("release" as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stray" as const), who }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 16_000 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "remove" as const }) },
);
const clock = fc.record({
  offsetMs: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  rate: fc.double({ min: 0.9, max: 1.1, noNaN: true }),
});

/** One API server, three candidates, and the time. */
class State {
  readonly store = new LeaseStore();
  readonly candidates: readonly Candidate[];
  nowMs = 0;
  #isRemoved = false;

  constructor(clocks: readonly { readonly offsetMs: number; readonly rate: number }[]) {
    this.candidates = clocks.map((its, index) => new Candidate(`c${index}`, this.store, its));
  }

  play(step: Move): void {
    if (step.kind === "wait") this.nowMs += step.ms;
    else if (step.kind === "remove") this.#remove();
    else playOne(this.nowMs, this.candidates[step.who], step.kind);
  }

  /** Once: a candidate that never saw the lease cannot know that it was removed, nor that it was removed twice. */
  #remove(): void {
    if (this.#isRemoved || !this.candidates.every(({ hasSeenLease }) => hasSeenLease)) return;
    this.#isRemoved = true;
    this.store.lease = undefined;
  }
}

function playOne(nowMs: number, candidate: Candidate | undefined, kind: OneMove): void {
  if (candidate !== undefined) oneMoves[kind](candidate, nowMs);
}

const oneMoves: Readonly<Record<OneMove, (candidate: Candidate, nowMs: number) => void>> = {
  /** A look and what follows from it, without trouble. */
  round: (candidate, nowMs) => {
    for (const doesWrite of [false, true]) {
      candidate.send(nowMs, doesWrite);
      candidate.arrive();
      candidate.receive(nowMs);
    }
  },
  /** The server has acted, the response is on its way. */
  begin: (candidate, nowMs) => {
    candidate.send(nowMs, true);
    candidate.arrive();
  },
  send: (candidate, nowMs) => {
    candidate.send(nowMs, true);
  },
  arrive: (candidate) => {
    candidate.arrive();
  },
  receive: (candidate, nowMs) => {
    candidate.receive(nowMs);
  },
  giveUp: (candidate) => {
    candidate.giveUp();
  },
  release: (candidate, nowMs) => {
    candidate.release(nowMs);
  },
  stray: (candidate) => {
    candidate.strays.shift()?.serve();
  },
};

describe("[runtime/RT-09] the election as a model", () => {
  test("[runtime/RT-09] never lets two of three candidates write, whatever the order, the clocks and the losses", () => {
    let terms = 0;
    fc.assert(
      fc.property(
        fc.array(move, { maxLength: 100, size: "max" }),
        fc.tuple(clock, clock, clock),
        (moves, clocks) => {
          const state = new State(clocks);
          for (const step of moves) {
            state.play(step);
            const writers = state.candidates.filter((candidate) => candidate.mayWrite(state.nowMs));
            expect(writers.length).toBeLessThanOrEqual(1);
            terms += writers.length;
          }
        },
      ),
      { numRuns: 4_000 },
    );
    expect(terms, "another client led at all").toBeGreaterThan(1_000);
  });
});
