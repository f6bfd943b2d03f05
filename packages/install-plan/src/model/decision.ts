import type { PlanPhase } from "@quartermaster/api";
import type { Outcome, Why } from "@quartermaster/runtime";

import type { PlanAction } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import type { PlanStatus } from "./plan-status.ts";

/** A rule of plans. Its decision becomes a verdict with the report on everything that was observed; see `verdictOf`. */
export interface PlanRule {
  /** For the situation it decides, e.g. `contentChanged`. */
  readonly name: string;
  /** Undefined where the rule does not apply. */
  readonly decide: (seen: Seen, now: Date) => Decision | undefined;
}

export interface Decision {
  readonly phase: PlanPhase;
  /** Default: the message of the outcome. */
  readonly message?: string | undefined;
  readonly outcome: Outcome;
  readonly actions?: readonly PlanAction[] | undefined;
  readonly inFlight?: number | undefined;
  readonly beginWithinMs?: number | undefined;
  readonly isInterim?: boolean | undefined;
  /** Fields of the status that outlast the reconcile. */
  readonly progress?: Partial<PlanStatus> | undefined;
}

/** A reason with its sentence. */
export function because(reason: string, message: string): Why {
  return { reason, message: message.slice(0, 1024) };
}

/** The same message from when a stage is begun until its writes are done: each change of a large plan's status is dear. */
export function appliesStage(name: string): Why {
  return because(reasons.applying, `Applying stage ${name}.`);
}

/** The next reconcile follows immediately: it is to see what was decided now. */
export const atOnceMs = 0;

/** Time until the next reconcile while the API server's own caches follow a change. */
export const recheckMs = 500;
