import { RE2JS, RE2JSException } from "@bufbuild/re2";

/** A pattern that is matched in time linear in the text, whatever it says. */
export interface LinearPattern {
  /** Instructions of the compiled pattern; a match takes at most so many steps per character. */
  readonly size: number;
  /**
   * Whether some part of the text matches. `beforeSlowMatch` is called before the text is walked again with all instructions
   * in one call, which only patterns with very many states need; it may throw to prevent that.
   */
  test(text: string, beforeSlowMatch?: () => void): boolean;
}

/** Longer patterns are refused before they are read. */
const lengthLimit = 1_000;
/** Instructions; compiling so many takes a few milliseconds. */
const sizeLimit = 2_000;
/** States that a match may build before it falls back to the slow match; the library itself allows 10,000 of a kilobyte or more each. */
const stateLimit = 200;

/** Compiles a foreign pattern by RE2, as the API server does. A text says why that is not possible. */
export function linearPattern(pattern: string): LinearPattern | string {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const compiled = compile(pattern);
  const [oldest] = kept.keys();
  if (kept.size >= keptLimit && oldest !== undefined) kept.delete(oldest);
  if (pattern.length <= lengthLimit) kept.set(pattern, compiled);
  return compiled;
}

/** The same few patterns are tried on many texts; the oldest goes first. */
const kept = new Map<string, LinearPattern | string>();
const keptLimit = 50;

function compile(pattern: string): LinearPattern | string {
  if (pattern.length > lengthLimit) return `a pattern may have at most ${lengthLimit} characters`;
  if (expandedSize(pattern) > sizeLimit) return "a pattern has too many repetitions";
  try {
    return matcher(RE2JS.compile(pattern));
  } catch (error) {
    if (error instanceof RE2JSException) return "a pattern must be valid RE2 syntax";
    throw error;
  }
}

function matcher(compiled: RE2JS): LinearPattern {
  const { dfa, prog } = compiled.re2Input;
  dfa.stateLimit = stateLimit;
  const matchFast = dfa.match.bind(dfa);
  return {
    size: prog.numInst(),
    test: (text, beforeSlowMatch) => {
      dfa.match = (...parts) => {
        const response = matchFast(...parts);
        if (response === null) beforeSlowMatch?.();
        return response;
      };
      return compiled.test(text);
    },
  };
}

/** An upper bound of what counted repetitions make of a pattern: RE2 writes each repetition out. */
export function expandedSize(pattern: string): number {
  const sums = [0];
  let last = 0;
  for (const [token] of pattern.matchAll(tokens)) {
    if (token === "(") sums.push(0);
    const times = token.startsWith("{") ? repeats(token) : undefined;
    const before = sums.pop() ?? 0;
    if (times !== undefined) {
      sums.push(before - last + last * times);
      last *= times;
    } else if (token === ")" && sums.length > 0) {
      last = before + 2;
      sums.push((sums.pop() ?? 0) + last);
    } else {
      last = 1;
      sums.push(before + 1);
    }
  }
  return sums.reduce((sum, each) => sum + each, 0);
}

/** A class without an end reaches to the end of the pattern, so that no part of it is looked at again; RE2 refuses it. */
const tokens = /\\.|\[\^?\]?[^\]\\]*(?:\\.[^\]\\]*)*\]?|\{\d+(?:,\d*)?\}|[\s\S]/gu;

function repeats(token: string): number {
  const counts = token.slice(1, -1).split(",");
  return Math.max(1, ...counts.map(Number)) + 1;
}
