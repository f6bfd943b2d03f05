import { type ApiError, type InvalidCause, schemaMismatch } from "@quartermaster/runtime";

/**
 * The faults that the server lists, each with its field, in words that help. Undefined where it lists none, or one without a field:
 * then its message says more, e.g. which policy refused the object.
 */
export function describeCauses({ causes, class: errorClass }: ApiError): string | undefined {
  if (errorClass !== "invalid" || causes.length === 0) return undefined;
  if (causes.some(({ field, reason }) => field === "" && reason !== schemaMismatch)) return undefined;
  return inOrder(causes).map(describeCause).join("; ");
}

/** Immutable fields come first: they decide the remedy. */
export function inOrder(causes: readonly InvalidCause[]): readonly InvalidCause[] {
  return [...causes.filter(isImmutableCause), ...causes.filter((cause) => !isImmutableCause(cause))];
}

/**
 * The server has no code for immutable fields. What it and most authors of CRDs write; `roleRef` of bindings, addresses of
 * Services and the specs of Pods and StatefulSets have words of their own.
 */
const immutableText =
  /\bimmutable\b|may not be changed|may not change once set|cannot change roleRef|updates may not change fields/;
const forbiddenUpdates = /updates to .* are forbidden/;

/** Whether the fault is a change of a field that cannot be changed. */
export function isImmutableCause({ reason, message }: InvalidCause): boolean {
  const terms = bounded(message);
  return immutableText.test(terms) || (reason === "FieldValueForbidden" && forbiddenUpdates.test(terms));
}

const searchedLimit = 4_096;

/** A webhook may say anything at any length: patterns do not run over all of it. */
function bounded(message: string): string {
  if (message.length <= 2 * searchedLimit) return message;
  return message.slice(0, searchedLimit) + message.slice(-searchedLimit);
}

/** Of a Secret a field may have no name: it could be a misplaced value. */
function describeCause(cause: InvalidCause): string {
  return `${cause.field === "" ? "one of its fields" : cause.field}: ${reasonText(cause)}`;
}

/** The transport removes messages about Secrets. */
function reasonText(cause: InvalidCause): string {
  const { reason, message } = cause;
  if (reason === schemaMismatch) return typeNames.get(message) ?? message;
  if (isImmutableCause(cause)) return immutableSentence.exec(bounded(message))?.[1] ?? withoutMiddle(message);
  return message === "" ? reason : withoutMiddle(message);
}

const typeNames: ReadonlyMap<string, string> = new Map([
  ["", "has the wrong type or is not a field of this kind; put values in quotes"],
  ["expected string", "must be a string; put the value in quotes"],
  ["expected numeric (int or float)", "must be a number, in digits and without quotes"],
  ["expected boolean", "must be true or false, without quotes"],
  ["expected list", "must be a list"],
  ["expected map", "must be an object"],
  ["field not declared in schema", "is not a field of this kind; check spelling and indentation"],
]);

/** The words themselves, without the value before them and the difference after them: both can be the whole object. */
const immutableSentence = new RegExp(
  `(?:^|: )([^:\n]*(?:${immutableText.source}|${forbiddenUpdates.source})[^:\n]*)`,
);

const headLimit = 80;
const tailLimit = 160;

/** The server quotes whole values and says at the end what is wrong with them: both ends are kept. */
function withoutMiddle(text: string): string {
  if (text.length <= headLimit + tailLimit) return text;
  return `${text.slice(0, headLimit)} … ${text.slice(-tailLimit)}`;
}
