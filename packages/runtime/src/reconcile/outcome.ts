/** Outcome of a reconcile. Throwing is the only way to request back-off; there is no bare "requeue". */
export type Outcome =
  /** Wait for an event; with `recheckAfterMs`, also reconcile again then: certificates and licenses run out without one. */
  | { readonly kind: "settled"; readonly recheckAfterMs?: number }
  | { readonly kind: "waiting"; readonly why: Why; readonly retryAfterMs: number }
  /** Not as declared, and no one acts on it: a setting of the user says so. Events bring it back, and `recheckAfterMs` if it is set. */
  | { readonly kind: "held"; readonly why: Why; readonly recheckAfterMs?: number }
  /** Only a change of the spec, or of what it depends on, can help; with `retryAfterMs` we try again all the same. */
  | { readonly kind: "stalled"; readonly why: Why; readonly retryAfterMs?: number };

/** Reason and message for users. */
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
  /** How many actions are performed at a time (default: 1, which keeps their order). */
  readonly inFlight?: number | undefined;
  /** For so long actions are begun; what is left is up to the next reconcile, which the outcome has to bring (default: no limit). */
  readonly beginWithinMs?: number | undefined;
  /**
   * An intermediate step. The reconcile decides again immediately, on the state as it is then and with this
   * status taken for granted; only what it comes to in the end is written. Steps that last longer than 3 s are reported all the same.
   */
  readonly isInterim?: boolean | undefined;
  /** Status fields besides conditions and observedGeneration. Unset, they stay as they are. */
  readonly status?: object | undefined;
  /** Conditions besides Ready, Reconciling and Stalled. One that is left out stays as it is. */
  readonly conditions?: readonly ConditionUpdate[] | undefined;
  /**
   * Independent concerns, performed side by side after `actions`; see `Lane`. The object's outcome, status and conditions are then
   * what `mergeLanes` makes of this verdict and of how the lanes ended.
   */
  readonly lanes?: readonly Lane<Action>[] | undefined;
}

/**
 * One of several independent concerns of an object, e.g. certificates beside nodes. Lanes see the same state, are decided one by
 * one and performed side by side; one that fails stops none of the others.
 */
export interface Lane<Action> {
  /** For the log. */
  readonly name: string;
  /** Performed one after the other. */
  readonly actions: readonly Action[];
  readonly outcome: Outcome;
  /** The lane's own fields of the status: no two lanes write the same one. */
  readonly status?: object | undefined;
  /** The same fields if one of its actions fails: what was intended must not be recorded as done (default: none of them). */
  readonly statusIfFailed?: object | undefined;
  /** The lane's own conditions. */
  readonly conditions?: readonly ConditionUpdate[] | undefined;
}

/** A condition as a domain states it; the runtime adds times and the generation. */
export interface ConditionUpdate {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** How a clean-up stands: an outcome, and what the status says meanwhile. */
export type CleanUpEnd = Pick<Verdict<never>, "outcome" | "status" | "conditions">;

/** Everything is as declared. Reconciles again without an event only when given a delay. */
export function settled(recheckAfterMs?: number): Outcome {
  return recheckAfterMs === undefined ? { kind: "settled" } : { kind: "settled", recheckAfterMs };
}

/** Another client has to act first, or time has to pass; we reconcile again without an event. */
export function waiting(why: Why, retryAfterMs: number): Outcome {
  return { kind: "waiting", why, retryAfterMs };
}

/** Not as declared, by the user's own setting. Reconciles again without an event only when given a delay. */
export function held(why: Why, recheckAfterMs?: number): Outcome {
  return recheckAfterMs === undefined ? { kind: "held", why } : { kind: "held", why, recheckAfterMs };
}

/** The declaration cannot be carried out as it stands. Tries again on its own only when given a delay. */
export function stalled(why: Why, retryAfterMs?: number): Outcome {
  return retryAfterMs === undefined ? { kind: "stalled", why } : { kind: "stalled", why, retryAfterMs };
}
