import { fieldOf } from "../manifest/json-object.ts";
import { isSafePattern } from "./safe-pattern.ts";

/** Which limits of its schema a text breaks. Lengths count characters, not UTF-16 units, as the server does. */
export function textFaults(schema: unknown, text: string): readonly string[] {
  const [minLength, maxLength] = [fieldOf(schema, "minLength"), fieldOf(schema, "maxLength")];
  return [
    ...(typeof minLength === "number" && !isLongerThan(text, minLength - 1)
      ? [`must have at least ${minLength} characters`]
      : []),
    ...(typeof maxLength === "number" && isLongerThan(text, maxLength)
      ? [`must have at most ${maxLength} characters`]
      : []),
    ...(matchesPattern(fieldOf(schema, "pattern"), text) ? [] : ["does not match the pattern"]),
  ];
}

/** Which limits of its schema a number breaks. */
export function numberFaults(schema: unknown, value: number): readonly string[] {
  const multipleOf = fieldOf(schema, "multipleOf");
  return [
    ...minimumFaults(schema, value),
    ...maximumFaults(schema, value),
    ...(typeof multipleOf === "number" && value % multipleOf !== 0
      ? [`must be a multiple of ${multipleOf}`]
      : []),
  ];
}

function minimumFaults(schema: unknown, value: number): readonly string[] {
  const minimum = fieldOf(schema, "minimum");
  if (typeof minimum !== "number" || value > minimum) return [];
  if (fieldOf(schema, "exclusiveMinimum") === true) return [`must be more than ${minimum}`];
  return value === minimum ? [] : [`must be at least ${minimum}`];
}

function maximumFaults(schema: unknown, value: number): readonly string[] {
  const maximum = fieldOf(schema, "maximum");
  if (typeof maximum !== "number" || value < maximum) return [];
  if (fieldOf(schema, "exclusiveMaximum") === true) return [`must be less than ${maximum}`];
  return value === maximum ? [] : [`must be at most ${maximum}`];
}

function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || Array.from(text).length > limit;
}

/** A pattern that could run for ever, or that only Go understands, is left to the server. */
function matchesPattern(pattern: unknown, text: string): boolean {
  if (typeof pattern !== "string" || !isSafePattern(pattern, text.length)) return true;
  return new RegExp(pattern, "u").test(text);
}
