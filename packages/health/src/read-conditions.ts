import { fieldOf, isJsonObject, type KubeObject, listOf, pointerKeys, textOf } from "@quartermaster/runtime";

/** The fields that are read of a condition; others are ignored. */
export interface ReadCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** A part of the object, e.g. `partOf(object, "spec", "updateStrategy")`; undefined when any step is missing. */
export function partOf(object: KubeObject, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => fieldOf(part, key), object);
}

/** A number of the object's status, or the default where it says none. */
export function countOf(object: KubeObject, field: string, byDefault = 0): number {
  return numberOr(partOf(object, "status", field), byDefault);
}

/** `spec.replicas`, which is 1 when left out. */
export function wantedReplicas(object: KubeObject): number {
  return numberOr(partOf(object, "spec", "replicas"), 1);
}

/** The value if it is a number. */
export function numberOr(value: unknown, byDefault: number): number {
  return typeof value === "number" ? value : byDefault;
}

/** The conditions of the status in their order; malformed ones are left out. */
export function conditionsOf(object: KubeObject): readonly ReadCondition[] {
  return readConditions(listOf(partOf(object, "status"), "conditions"));
}

/** Conditions out of any list. */
export function readConditions(list: readonly unknown[]): readonly ReadCondition[] {
  return list
    .filter((item) => isJsonObject(item))
    .map((item) => ({
      type: textOf(item, "type") ?? "",
      status: textOf(item, "status") ?? "",
      reason: textOf(item, "reason") ?? "",
      message: textOf(item, "message") ?? "",
    }));
}

/** The condition of this type, if there is one. */
export function conditionOf(object: KubeObject, type: string): ReadCondition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

/** The condition of this type if it is True. */
export function trueCondition(object: KubeObject, type: string): ReadCondition | undefined {
  const condition = conditionOf(object, type);
  return condition?.status === "True" ? condition : undefined;
}

/**
 * `status.observedGeneration`; undefined when there is none. Argo Rollouts writes it as text; what cannot be read as a whole
 * number counts as absent (helm/helm#32615).
 */
export function observedGeneration(object: KubeObject): number | undefined {
  const observed = partOf(object, "status", "observedGeneration");
  const number = typeof observed === "string" && /^\d{1,15}$/.test(observed) ? Number(observed) : observed;
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}

/** A condition's own words for a message: its message, else its reason, else what is given. */
export function conditionText({ message, reason }: ReadCondition, otherwise: string): string {
  return [message, reason, otherwise].find((text) => text !== "") ?? otherwise;
}

/** The value at a JSON pointer (RFC 6901), own fields only; undefined when there is none or the pointer is malformed. */
export function atPointer(value: unknown, pointer: string): unknown {
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  return pointerKeys(pointer).reduce<unknown>((part, key) => childOf(part, key), value);
}

function childOf(part: unknown, key: string): unknown {
  if (!Array.isArray(part)) return fieldOf(part, key);
  const items: readonly unknown[] = part;
  return /^(?:0|[1-9]\d{0,8})$/.test(key) ? items[Number(key)] : undefined;
}
