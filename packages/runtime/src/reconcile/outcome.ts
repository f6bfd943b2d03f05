/** What the queue does next. Throwing is the only way to ask for back-off; there is no bare "requeue". */
export type Outcome =
  /** Wait for an event; with `recheckAfterMs`, also look again then: certificates and licences run out without one. */
  | { readonly kind: "settled"; readonly recheckAfterMs?: number }
  | { readonly kind: "waiting"; readonly why: Why; readonly retryAfterMs: number }
  /** Only a change of the spec can help. */
  | { readonly kind: "stalled"; readonly why: Why };

/** What a user is told. */
export interface Why {
  /** CamelCase, from the domain's closed list. */
  readonly reason: string;
  /** One sentence for the user, the same text on every retry. */
  readonly message: string;
}

/** The writes that are due now, and how the object stands once they have landed. */
export interface Verdict<Action> {
  readonly actions: readonly Action[];
  readonly outcome: Outcome;
  /** What the status says besides conditions and observedGeneration. Left out, it stays as it is. */
  readonly status?: object;
}

/** Everything is as declared. Looks again by itself only when told after how long. */
export function settled(recheckAfterMs?: number): Outcome {
  return recheckAfterMs === undefined ? { kind: "settled" } : { kind: "settled", recheckAfterMs };
}

/** Somebody else has to act first, or time has to pass; we look again by ourselves. */
export function waiting(why: Why, retryAfterMs: number): Outcome {
  return { kind: "waiting", why, retryAfterMs };
}

/** The declaration cannot be carried out as it stands. */
export function stalled(why: Why): Outcome {
  return { kind: "stalled", why };
}
