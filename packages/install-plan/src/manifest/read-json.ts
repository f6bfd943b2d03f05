import { tryParseJson } from "@quartermaster/runtime";

/** Levels of objects and lists that a manifest may have; a large CRD has about 60. */
export const depthLimit = 100;

/** The value of a JSON text, or what is wrong with it and where. */
export type JsonReading =
  | { readonly kind: "read"; readonly value: unknown }
  | { readonly kind: "broken" }
  | { readonly kind: "refused"; readonly line: number; readonly message: string };

/**
 * Reads JSON as the API server's strict decoding does: duplicate keys are refused, which `JSON.parse` keeps silent about, and
 * so is what nests deeper than any manifest. Numbers that a double cannot hold keep their digits. Never throws.
 */
export function readJson(text: string): JsonReading {
  const parsed = tryParseJson(text);
  if (parsed === undefined) return { kind: "broken" };
  const problem = findProblem(text);
  if (problem !== undefined)
    return { kind: "refused", line: lineAt(text, problem.offset), message: problem.message };
  return { kind: "read", value: parsed.value };
}

interface Fault {
  readonly offset: number;
  readonly message: string;
}

/** A string with what follows it up to a colon, or a bracket. Everything between carries nothing here. */
const token = /"(?<text>[^"\\]*(?:\\.[^"\\]*)*)"(?<colon>\s*:)?|[{}[\]]/g;

/** One walk over text that is known to be JSON: on broken text, strings without end would make it quadratic. */
function findProblem(text: string): Fault | undefined {
  const levels: Set<string>[] = [];
  for (const match of text.matchAll(token)) {
    const [lexeme] = match;
    if (lexeme === "{" || lexeme === "[") levels.push(new Set());
    else if (lexeme === "}" || lexeme === "]") levels.pop();
    else if (match.groups?.["colon"] !== undefined && isKnownKey(levels.at(-1), match.groups["text"])) {
      return { offset: match.index, message: `the key ${quote(match.groups["text"])} occurs twice` };
    }
    if (levels.length > depthLimit) {
      return { offset: match.index, message: `nested deeper than ${depthLimit} levels` };
    }
  }
  return undefined;
}

function isKnownKey(level: Set<string> | undefined, written = ""): boolean {
  const key = written.includes("\\") ? unescaped(written) : written;
  if (level === undefined || level.has(key)) return level !== undefined;
  level.add(key);
  return false;
}

/** Keys that are written differently may be the same: `"a"` and `"\u0061"`. */
function unescaped(written: string): string {
  return String(JSON.parse(`"${written}"`));
}

function quote(key = ""): string {
  return JSON.stringify(key.slice(0, 100));
}

/** Lines count from 1. */
function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
