import { unreachable } from "../unreachable.ts";
import type { Outcome, Why } from "./outcome.ts";
import { reasons } from "./reasons.ts";

/** A condition as Kubernetes writes it. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** What the conditions are made from. */
export interface ConditionFacts {
  readonly outcome: Outcome;
  readonly generation: number | undefined;
  /** Those that are there now; a condition whose status stays keeps its time. */
  readonly previous: readonly Condition[];
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

/** Ready, Reconciling and Stalled for an outcome, in this order; kstatus and `kubectl wait` read them. */
export function conditionsFor({ outcome, generation, previous, now }: ConditionFacts): readonly Condition[] {
  const { ready, reconciling, stalled } = meaningOf(outcome);
  return [
    { type: "Ready", ...ready },
    { type: "Reconciling", ...reconciling },
    { type: "Stalled", ...stalled },
  ].map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
    return {
      ...condition,
      lastTransitionTime,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
  });
}

type Claim = Pick<Condition, "status" | "reason" | "message">;

interface Meaning {
  readonly ready: Claim;
  readonly reconciling: Claim;
  readonly stalled: Claim;
}

function meaningOf(outcome: Outcome): Meaning {
  switch (outcome.kind) {
    case "settled":
      return { ready: isTrue(allDone), reconciling: isFalse(allDone), stalled: isFalse(allDone) };
    case "waiting":
      return { ready: isFalse(outcome.why), reconciling: isTrue(outcome.why), stalled: isFalse(inProgress) };
    case "stalled":
      return { ready: isFalse(outcome.why), reconciling: isFalse(atRest), stalled: isTrue(outcome.why) };
    default:
      return unreachable(outcome);
  }
}

const allDone: Why = { reason: reasons.settled, message: "Everything is as declared." };
const inProgress: Why = {
  reason: reasons.progressing,
  message: "Nothing keeps the object from making progress.",
};
const atRest: Why = {
  reason: reasons.stalled,
  message: "Nothing is under way; a change of the spec is needed.",
};

function isTrue(why: Why): Claim {
  return { status: "True", ...why };
}

function isFalse(why: Why): Claim {
  return { status: "False", ...why };
}
