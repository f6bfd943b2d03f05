import { deepEqual } from "../object/deep-equal.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { printableDeep } from "../object/printable.ts";
import { type Condition, conditionsFor } from "./conditions.ts";
import type { ConditionUpdate, Outcome } from "./outcome.ts";
import { timestampOf } from "./timestamp.ts";

/** What a status is made from. */
export interface StatusFacts {
  readonly object: KubeObject;
  readonly outcome: Outcome;
  /** What the domain says; undefined keeps what is there. */
  readonly content: object | undefined;
  /** What the domain states besides Ready, Reconciling and Stalled. */
  readonly updates?: readonly ConditionUpdate[];
  /** The types of conditions that are the domain's; what is not claimed anew stays. */
  readonly ownTypes?: readonly string[];
  readonly now: Date;
}

/** The whole status that the object should have. */
export function statusFor({ object, outcome, content, now, ...own }: StatusFacts): object {
  const { generation } = object.metadata;
  const current = currentStatus(object);
  const previous = conditionsOf(current);
  const { updates = [], ownTypes = [] } = own;
  const kept = previous
    .filter(({ type }) => ownTypes.includes(type) && !updates.some((update) => update.type === type))
    .map((condition) =>
      generation === undefined ? condition : { ...condition, observedGeneration: generation },
    );
  const conditions = [
    ...conditionsFor({
      outcome,
      updates,
      generation,
      previous,
      now: timestampOf(now),
    }),
    ...kept,
  ];
  const {
    conditions: _conditions,
    observedGeneration: _generation,
    ...rest
  } = content === undefined ? current : readStatus(printableDeep(content));
  return { ...rest, ...(generation === undefined ? {} : { observedGeneration: generation }), conditions };
}

/** Whether the object says already what the status should say. Conditions of other types are not ours to judge. */
export function isStatusCurrent(object: KubeObject, wanted: object): boolean {
  const { conditions: _present, ...present } = currentStatus(object);
  const { conditions: _wanted, ...rest } = readStatus(wanted);
  if (!deepEqual(present, rest)) return false;
  const held = conditionsOf(currentStatus(object));
  return conditionsOf(readStatus(wanted)).every((condition) =>
    deepEqual(
      held.find(({ type }) => type === condition.type),
      condition,
    ),
  );
}

/** A status as far as it has a known shape. */
type LooseStatus = Readonly<Record<string, unknown>> & {
  readonly observedGeneration?: unknown;
  readonly conditions?: unknown;
};

function currentStatus(object: KubeObject): LooseStatus {
  return "status" in object ? readStatus(object.status) : {};
}

function readStatus(status: unknown): LooseStatus {
  return typeof status === "object" && status !== null && !Array.isArray(status) ? { ...status } : {};
}

function conditionsOf({ conditions }: LooseStatus): readonly Condition[] {
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(value: unknown): value is Condition {
  return typeof value === "object" && value !== null && "type" in value && "status" in value;
}
