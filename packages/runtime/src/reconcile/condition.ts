import { definedFields } from "../object/defined-fields.ts";
import { printable } from "../object/printable.ts";
import { reasons } from "../reasons.ts";
import { unreachable } from "../unreachable.ts";
import type { ConditionUpdate, Outcome, Why } from "./outcome.ts";

/** A condition as Kubernetes writes it. */
export interface Condition extends ConditionUpdate {
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface ConditionFacts {
  readonly outcome: Outcome;
  /** Further conditions of the domain. */
  readonly updates?: readonly ConditionUpdate[];
  readonly generation: number | undefined;
  /** Those that are there now; a condition whose status stays keeps its time. */
  readonly previous: readonly Condition[];
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

/** Ready, Reconciling and Stalled for an outcome, in this order, then the domain's own; kstatus and `kubectl wait` read them. */
export function conditionsFor({
  outcome,
  updates = [],
  generation,
  previous,
  now,
}: ConditionFacts): readonly Condition[] {
  const { ready, reconciling, stalled } = meaningOf(outcome);
  return [
    { type: "Ready", ...ready },
    { type: "Reconciling", ...reconciling },
    { type: "Stalled", ...stalled },
    ...updates,
  ].map((condition) => {
    const before = previous.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
    return definedFields({
      ...condition,
      message: printable(condition.message).slice(0, longestMessage),
      lastTransitionTime,
      observedGeneration: generation,
    });
  });
}

/** As in every schema of conditions: a longer one would keep the whole status from being written. */
const longestMessage = 32_768;

type Decide = Omit<ConditionUpdate, "type">;

interface Meaning {
  readonly ready: Decide;
  readonly reconciling: Decide;
  readonly stalled: Decide;
}

function meaningOf(outcome: Outcome): Meaning {
  switch (outcome.kind) {
    case "settled":
      return { ready: isTrue(allDone), reconciling: isFalse(allDone), stalled: isFalse(allDone) };
    case "waiting":
      return { ready: isFalse(outcome.why), reconciling: isTrue(outcome.why), stalled: isFalse(inProgress) };
    case "held":
      return { ready: isFalse(outcome.why), reconciling: isFalse(outcome.why), stalled: isFalse(inProgress) };
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
  message: "Nothing is in progress; a change of the spec is needed.",
};

function isTrue(why: Why): Decide {
  return { status: "True", ...why };
}

function isFalse(why: Why): Decide {
  return { status: "False", ...why };
}
