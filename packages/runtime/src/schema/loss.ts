import type { z } from "zod";

/** Something a schema says that its JSON Schema does not. */
export interface Loss {
  readonly what: string;
  readonly remedy: string;
}

/** The part of a type that would be lost silently: zod omits what JSON Schema has no keyword for. Undefined when nothing. */
export function lossOf(schema: z.core.$ZodTypes): Loss | undefined {
  // oxlint-disable-next-line no-underscore-dangle -- zod's documented door for library authors
  const own: Definition = schema._zod.def;
  // oxlint-disable-next-line no-underscore-dangle -- as above
  const checks = (own.checks ?? []).map((check): Definition => check._zod.def);
  return [own, ...checks].map(lossOfOne).find((loss) => loss !== undefined);
}

/** The part of the definition of a type or of a check that is read. */
interface Definition {
  readonly type?: string;
  readonly check?: string | undefined;
  readonly checks?: readonly z.core.$ZodCheck[] | undefined;
  readonly format?: string | undefined;
  readonly pattern?: RegExp | undefined;
  readonly coerce?: boolean | undefined;
  readonly hostname?: RegExp | undefined;
  readonly protocol?: RegExp | undefined;
  readonly keyType?: z.core.$ZodType;
  readonly catchall?: z.core.$ZodType | undefined;
}

function lossOfOne(definition: Definition): Loss | undefined {
  if (definition.coerce === true) return coerced;
  if (definition.check === "string_format") return lossOfFormat(definition);
  if (definition.check !== undefined && !kept.has(definition.check)) return inCode;
  return lossOfContainer(definition);
}

/** Checks that JSON Schema has a keyword for. */
const kept = new Set([
  "greater_than",
  "less_than",
  "multiple_of",
  "number_format",
  "min_length",
  "max_length",
  "length_equals",
]);

const coerced: Loss = {
  what: "coerced",
  remedy: "The server takes values as they are: name the type that users write.",
};

const inCode: Loss = {
  what: "checked or changed in code",
  remedy: "Use cel(): the server does not run our code.",
};

function lossOfFormat({ format = "", pattern, hostname, protocol }: Definition): Loss | undefined {
  if (pattern === undefined) {
    const isStated = format === "url" && hostname === undefined && protocol === undefined;
    return isStated ? undefined : inCode;
  }
  if (/[ims]/.test(pattern.flags)) return flagged;
  return /\(\?<?[=!]|\\[1-9]/.test(pattern.source) ? lookingAround : undefined;
}

const flagged: Loss = {
  what: "a regular expression with flags",
  remedy: "Write both cases out, as in [aA]: only its text reaches the server.",
};

const lookingAround: Loss = {
  what: "a regular expression with look-around or back references",
  remedy: "The server's have neither; use cel() for that part.",
};

function lossOfContainer({ type, keyType, catchall }: Definition): Loss | undefined {
  if (type === "record" && keyType !== undefined && !isAnyText(keyType)) return limitedKeys;
  return catchall === undefined || openEnds.has(typeOf(catchall)) ? undefined : typedRest;
}

/** `never` refuses what is not named, `unknown` keeps it. */
const openEnds = new Set(["never", "unknown", "any"]);

const limitedKeys: Loss = {
  what: "a map with limits on its keys",
  remedy: "Use map() with a cel() rule on its keys, or an object with named fields.",
};

const typedRest: Loss = {
  what: "an object with a type for all other fields",
  remedy: "Use map(), or name the fields.",
};

function isAnyText(keyType: z.core.$ZodType): boolean {
  // oxlint-disable-next-line no-underscore-dangle -- as above
  const { type, format, checks = [] }: Definition = keyType._zod.def;
  return type === "string" && format === undefined && checks.length === 0;
}

function typeOf(schema: z.core.$ZodType): string {
  // oxlint-disable-next-line no-underscore-dangle -- as above
  return schema._zod.def.type;
}
