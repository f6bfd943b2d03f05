import { deepEqual } from "../object/deep-equal.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { type Condition, conditionsFor } from "./conditions.ts";
import type { Outcome } from "./outcome.ts";

/** What a status is made from. */
export interface StatusFacts {
  readonly object: KubeObject;
  readonly outcome: Outcome;
  /** What the domain says; undefined keeps what is there. */
  readonly content: object | undefined;
  readonly now: Date;
}

/** The whole status that the object should have. */
export function statusFor({ object, outcome, content, now }: StatusFacts): object {
  const { generation } = object.metadata;
  const current = currentStatus(object);
  const conditions = conditionsFor({
    outcome,
    generation,
    previous: conditionsOf(current),
    now: now.toISOString().replace(/\.\d+Z$/, "Z"),
  });
  const {
    conditions: _conditions,
    observedGeneration: _generation,
    ...kept
  } = content === undefined ? current : readStatus(content);
  return { ...kept, ...(generation === undefined ? {} : { observedGeneration: generation }), conditions };
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
