import type { InvalidCause } from "../errors.ts";

/** Whether the server could not read an object that was to be applied, because it does not fit the kind's schema. */
export function isTypedPatchFailure(message: string): boolean {
  return message.startsWith("failed to create typed patch object");
}

/** Reason of these causes; the server has none for them. */
export const schemaMismatch = "SchemaMismatch";

/** One fault: `.data.count: expected string, got &value.valueUnstructured{Value:1}`. */
const mistyped = /^\s*\.(?<field>[^:]+): (?<text>expected [^,]+), got /;
const undeclared = /^\s*\.(?<field>[^:]+): (?<text>field not declared in schema)$/;

/**
 * The problems in that message, which comes without causes. Field and expectation only: the rest quotes the value in Go's notation.
 * Empty unless every line is understood, so that a reader with causes knows everything that the server reported.
 */
export function typedPatchCauses(message: string): readonly InvalidCause[] {
  if (!isTypedPatchFailure(message)) return [];
  const output = message.slice(message.indexOf("): ") + "): ".length);
  const lines = output.split("\n").filter((line) => line.trim() !== "" && line !== "errors:");
  const causes = lines.map(causeOf);
  const known = causes.filter((cause) => cause !== undefined);
  return known.length === causes.length ? known : [];
}

function causeOf(line: string): InvalidCause | undefined {
  const { field, text } = (mistyped.exec(line) ?? undeclared.exec(line))?.groups ?? {};
  if (field === undefined || text === undefined) return undefined;
  return { field, reason: schemaMismatch, message: text };
}

/** Fields of objects that hold credentials. Anything else in a path, or in place of one of them, may be a credential itself. */
const knownFields = new Set(["apiVersion", "kind", "metadata", "type", "immutable", "data", "stringData"]);

/** The same cause without anything that the author chose. Of an unknown field not even the name: it may be a misplaced value. */
export function quietTypedPatchCause({ field, reason }: InvalidCause): InvalidCause {
  const [first = ""] = field.split(/[.[]/, 1);
  return { field: knownFields.has(first) ? first : "", reason, message: "" };
}
