import { linearPattern } from "@quartermaster/health";
import { fieldOf, isJsonObject, isRawNumber, type JsonObject, listOf } from "@quartermaster/runtime";

/** Where an object does not fit a schema, and why. Never quotes the value. */
export interface SchemaProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * Problems of a value with a structural OpenAPI v3 schema, as the API server would judge it. Fields that the schema does
 * not know are pruned by the server, so they are no problems. `x-kubernetes-validations` (CEL), `format` and `uniqueItems` are
 * not judged here: no problem found is no promise, a problem is one.
 */
export function schemaProblems(schema: unknown, value: unknown, path = ""): readonly SchemaProblem[] {
  if (value === null && fieldOf(schema, "nullable") === true) return [];
  const typeProblem = wrongType(schema, value);
  if (typeProblem !== undefined) return [{ path, message: typeProblem }];
  return [
    ...enumProblems(schema, value, path),
    ...contentProblems(schema, value, path),
    ...logicProblems(schema, value, path),
  ];
}

function contentProblems(schema: unknown, value: unknown, path: string): readonly SchemaProblem[] {
  if (typeof value === "string") return textProblems(schema, value).map((message) => ({ path, message }));
  if (typeof value === "number" || isRawNumber(value)) {
    return numberProblems(schema, Number(isRawNumber(value) ? value.rawJSON : value)).map((message) => ({
      path,
      message,
    }));
  }
  if (Array.isArray(value)) return listProblems(schema, value, path);
  return isJsonObject(value) ? objectProblems(schema, value, path) : [];
}

function wrongType(schema: unknown, value: unknown): string | undefined {
  const isIntOrString = fieldOf(schema, "x-kubernetes-int-or-string") === true;
  const type = isIntOrString ? "int-or-string" : fieldOf(schema, "type");
  if (typeof type !== "string" || type === "") return undefined;
  const isPermission = typeTests.get(type)?.(value) ?? true;
  return isPermission ? undefined : `must be of type ${type}`;
}

const typeTests: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["object", isJsonObject],
  ["array", (value: unknown) => Array.isArray(value)],
  ["string", (value: unknown) => typeof value === "string"],
  ["boolean", (value: unknown) => typeof value === "boolean"],
  ["integer", isInteger],
  ["number", isNumber],
  ["int-or-string", (value: unknown) => typeof value === "string" || isInteger(value)],
]);

function isNumber(value: unknown): boolean {
  return typeof value === "number" || isRawNumber(value);
}

function isInteger(value: unknown): boolean {
  return isRawNumber(value) ? /^-?\d+$/.test(value.rawJSON) : Number.isInteger(value);
}

function enumProblems(schema: unknown, value: unknown, path: string): readonly SchemaProblem[] {
  const allowed = listOf(schema, "enum");
  if (allowed.length === 0 || typeof value === "object" || allowed.includes(value)) return [];
  return [{ path, message: "is not one of the allowed values" }];
}

function listProblems(schema: unknown, list: readonly unknown[], path: string): readonly SchemaProblem[] {
  const items = fieldOf(schema, "items");
  return [
    ...sizeProblems({ schema, count: list.length, path, limits: ["minItems", "maxItems"] }),
    ...list.flatMap((item, index) =>
      items === undefined ? [] : schemaProblems(items, item, `${path}[${index}]`),
    ),
  ];
}

function objectProblems(schema: unknown, object: JsonObject, path: string): readonly SchemaProblem[] {
  const missing = listOf(schema, "required").filter(
    (key): key is string => typeof key === "string" && isAbsent(schema, object, key),
  );
  return [
    ...missing.map((key) => ({ path: childPath(path, key), message: "is required" })),
    ...sizeProblems({
      schema,
      count: Object.keys(object).length,
      path,
      limits: ["minProperties", "maxProperties"],
    }),
    ...Object.entries(object).flatMap(([key, value]) =>
      fieldProblems(schema, { key, value, path: childPath(path, key) }),
    ),
  ];
}

function isAbsent(schema: unknown, object: JsonObject, key: string): boolean {
  const property = fieldOf(fieldOf(schema, "properties"), key);
  if (fieldOf(property, "default") !== undefined) return false;
  return !Object.hasOwn(object, key) || isPruned(property, object[key]);
}

/** A null that may not be one is removed by the server before validation; a default then takes its place. */
function isPruned(property: unknown, value: unknown): boolean {
  return value === null && property !== undefined && fieldOf(property, "nullable") !== true;
}

function fieldProblems(
  schema: unknown,
  { key, value, path }: { readonly key: string; readonly value: unknown; readonly path: string },
): readonly SchemaProblem[] {
  const property = fieldOf(fieldOf(schema, "properties"), key);
  if (isPruned(property, value)) return [];
  const judge = property ?? fieldOf(schema, "additionalProperties");
  return isJsonObject(judge) ? schemaProblems(judge, value, path) : [];
}

interface Size {
  readonly schema: unknown;
  readonly count: number;
  readonly path: string;
  readonly limits: readonly [string, string];
}

function sizeProblems({ schema, count, path, limits: [least, most] }: Size): readonly SchemaProblem[] {
  const [min, max] = [fieldOf(schema, least), fieldOf(schema, most)];
  return [
    ...(typeof min === "number" && count < min
      ? [{ path, message: `must have at least ${min} entries` }]
      : []),
    ...(typeof max === "number" && count > max
      ? [{ path, message: `must have at most ${max} entries` }]
      : []),
  ];
}

function logicProblems(schema: unknown, value: unknown, path: string): readonly SchemaProblem[] {
  const fits = (branch: unknown): boolean => schemaProblems(branch, value, path).length === 0;
  const [anyOf, oneOf] = [listOf(schema, "anyOf"), listOf(schema, "oneOf")];
  const not = fieldOf(schema, "not");
  return [
    ...listOf(schema, "allOf").flatMap((branch) => schemaProblems(branch, value, path)),
    ...(anyOf.length > 0 && !anyOf.some(fits)
      ? [{ path, message: "must match at least one schema (anyOf)" }]
      : []),
    ...(oneOf.length > 0 && oneOf.filter(fits).length !== 1
      ? [{ path, message: "must match exactly one schema (oneOf)" }]
      : []),
    ...(not !== undefined && fits(not)
      ? [{ path, message: "must not match the excluded schema (not)" }]
      : []),
  ];
}

function childPath(path: string, key: string): string {
  const isPlain = /^[A-Za-z_][\w-]{0,100}$/.test(key);
  if (!isPlain) return `${path}[${JSON.stringify(key.slice(0, 100))}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** Which limits of its schema a text breaks. Lengths count characters, not UTF-16 units, as the server does. */
function textProblems(schema: unknown, text: string): readonly string[] {
  const [minLength, maxLength] = [fieldOf(schema, "minLength"), fieldOf(schema, "maxLength")];
  return [
    ...(typeof minLength === "number" && !isLongerThan(text, minLength - 1)
      ? [`must have at least ${minLength} characters`]
      : []),
    ...(typeof maxLength === "number" && isLongerThan(text, maxLength)
      ? [`must have at most ${maxLength} characters`]
      : []),
    ...patternProblems(fieldOf(schema, "pattern"), text),
  ];
}

/** Which limits of its schema a number breaks. */
function numberProblems(schema: unknown, value: number): readonly string[] {
  const multipleOf = fieldOf(schema, "multipleOf");
  return [
    ...minimumProblems(schema, value),
    ...maximumProblems(schema, value),
    ...(typeof multipleOf === "number" && value % multipleOf !== 0
      ? [`must be a multiple of ${multipleOf}`]
      : []),
  ];
}

function minimumProblems(schema: unknown, value: number): readonly string[] {
  const minimum = fieldOf(schema, "minimum");
  if (typeof minimum !== "number" || value > minimum) return [];
  if (fieldOf(schema, "exclusiveMinimum") === true) return [`must be more than ${minimum}`];
  return value === minimum ? [] : [`must be at least ${minimum}`];
}

function maximumProblems(schema: unknown, value: number): readonly string[] {
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
function patternProblems(pattern: unknown, text: string): readonly string[] {
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
