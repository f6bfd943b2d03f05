import { canonicalJson, isRawNumber, type KubeObject } from "@quartermaster/runtime";

import { judge } from "./expression.ts";
import type { ReadinessCheck as Check } from "./health.ts";
import { atPointer, conditionOf } from "./read-conditions.ts";

/** Why a check does not hold. */
export interface UnmetCheck {
  readonly reason: "CheckNotMet" | "ExpressionTooExpensive";
  readonly message: string;
}

/** The first check that does not hold; undefined when all hold. Never throws, never reveals a value. */
export function unmetCheck(object: KubeObject, checks: readonly Check[]): UnmetCheck | undefined {
  for (const check of checks) {
    const unmet = whyUnmet(object, check);
    if (unmet !== undefined) return unmet;
  }
  return undefined;
}

function whyUnmet(object: KubeObject, check: Check): UnmetCheck | undefined {
  if (check.cel !== undefined && isFirst(check)) return unmetExpression(object, check.cel.expression);
  const message = unmetFields(object, check);
  return message === undefined ? undefined : { reason: "CheckNotMet", message };
}

/** A check has one part; of several the first in this order counts. */
function isFirst({ condition, fieldEquals, fieldsEqual }: Check): boolean {
  return condition === undefined && fieldEquals === undefined && fieldsEqual === undefined;
}

function unmetFields(object: KubeObject, { condition, fieldEquals, fieldsEqual }: Check): string | undefined {
  if (condition !== undefined) return unmetCondition(object, condition);
  if (fieldsEqual !== undefined) return unequalFields(object, fieldsEqual);
  if (fieldEquals !== undefined) return otherValue(object, fieldEquals);
  return "A check of the plan is empty.";
}

function unmetCondition(
  object: KubeObject,
  { type, status }: NonNullable<Check["condition"]>,
): string | undefined {
  const found = conditionOf(object, type)?.status;
  if (found === status) return undefined;
  return `Condition ${type} is ${found ?? "not set"}, not ${status}.`;
}

function unequalFields(object: KubeObject, { a, b }: NonNullable<Check["fieldsEqual"]>): string | undefined {
  const [one, other] = [atPointer(object, a), atPointer(object, b)];
  if (one === undefined) return `Field ${a} is not set.`;
  if (other === undefined) return `Field ${b} is not set.`;
  return canonicalJson(one) === canonicalJson(other) ? undefined : `Fields ${a} and ${b} differ.`;
}

function otherValue(
  object: KubeObject,
  { path, value }: NonNullable<Check["fieldEquals"]>,
): string | undefined {
  const found = atPointer(object, path);
  if (found === undefined) return `Field ${path} is not set.`;
  return textOfScalar(found) === value ? undefined : `Field ${path} has a different value.`;
}

/** Numbers and booleans are compared as they are written; objects and lists equal no text. */
function textOfScalar(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return isRawNumber(value) ? value.rawJSON : undefined;
}

function unmetExpression(object: KubeObject, expression: string): UnmetCheck | undefined {
  const judgement = judge(expression, object);
  if (judgement.kind === "true") return undefined;
  const reason = judgement.kind === "tooExpensive" ? "ExpressionTooExpensive" : "CheckNotMet";
  return { reason, message: `A CEL expression of the plan is not true: ${judgement.why}.` };
}
