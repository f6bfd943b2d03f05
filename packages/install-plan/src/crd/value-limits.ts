import { fieldOf } from "@quartermaster/runtime";

import { linearPattern } from "../linear-pattern.ts";

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
    ...patternFaults(fieldOf(schema, "pattern"), text),
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

/** Longer texts are left to the server: a thousand objects of a megabyte each would hold up everything else. */
const textLimit = 10_000;
/** The same for what a match may take when a pattern has very many states. */
const slowLimit = 1_000_000;

/** A pattern that RE2 cannot express is reported and never run; the server would refuse its definition. */
function patternFaults(pattern: unknown, text: string): readonly string[] {
  if (typeof pattern !== "string" || text.length > textLimit) return [];
  const compiled = linearPattern(pattern);
  if (typeof compiled === "string") return [`has a pattern that cannot be checked: ${compiled}`];
  const leave = (): void => {
    if (text.length * compiled.size > slowLimit) throw leftToServer;
  };
  try {
    return compiled.test(text, leave) ? [] : ["does not match the pattern"];
  } catch (error) {
    if (error === leftToServer) return [];
    throw error;
  }
}

const leftToServer = new RangeError("the pattern has too many states for this text");
