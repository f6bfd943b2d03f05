import { isRawNumber } from "./raw-number.ts";

/** Whether two JSON values say the same: key order is free, fields that are undefined count as absent, any depth. */
export function deepEqual(left: unknown, right: unknown): boolean {
  const open: unknown[] = [left, right];
  while (open.length > 0) {
    const one = open.pop();
    const other = open.pop();
    if (one !== other && !areAlike(one, other, open)) return false;
  }
  return true;
}

/** Compares one level and puts the pairs below it into `open`. */
function areAlike(one: unknown, other: unknown, open: unknown[]): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (isRawNumber(one) || isRawNumber(other)) return areSameDigits(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  return haveAlikeFields(one, other, open);
}

function haveAlikeFields(one: object, other: object, open: unknown[]): boolean {
  const fields = definedFields(one);
  if (fields.length !== definedFields(other).length) return false;
  for (const [key, value] of fields) {
    const match: unknown = Object.hasOwn(other, key) ? Reflect.get(other, key) : undefined;
    if (match === undefined) return false;
    if (match !== value) open.push(value, match);
  }
  return true;
}

function areSameDigits(one: unknown, other: unknown): boolean {
  return isRawNumber(one) && isRawNumber(other) && one.rawJSON === other.rawJSON;
}

function definedFields(container: object): readonly (readonly [string, unknown])[] {
  return Object.entries(container).filter(([, value]) => value !== undefined);
}

/** Freezes a JSON value with everything in it, at any depth, and returns it. What is frozen already is taken as done. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const child of Object.values(next)) if (typeof child === "object") open.push(child);
  }
  return value;
}
