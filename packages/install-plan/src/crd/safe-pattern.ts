/** Longest text that a pattern with repetitions is tried on: two in a row cost the square of it. */
const textLimit = 2_000;

/**
 * Whether a pattern of a CRD's author can be tried on a text of this length without fear. JavaScript's expressions backtrack,
 * the server's do not: repetition of what repeats or branches (`(a+)+`, `(a|a)*`) is exponential and refused, back references
 * are, and long texts. Doubt counts as unsafe.
 */
export function isSafePattern(pattern: string, textLength: number): boolean {
  if (textLength > textLimit || pattern.length > 1_000 || !compiles(pattern)) return false;
  const plain = pattern.replaceAll(/\\[^1-9k]/g, "x").replaceAll(/\[\^?\]?[^\]]*\]/g, "x");
  return (
    !/\\/.test(plain) && !/\(\?[=!<]/.test(plain) && !repeatsRepetition(plain) && countRepetitions(plain) <= 3
  );
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Repetition without a small bound. */
const repetition = /[*+]|\{\d+,\}|\{(?:\d+,)?\d{3,}\}/g;

function countRepetitions(plain: string): number {
  return [...plain.matchAll(repetition)].length;
}

/** Folds the groups from the inside out: one that repeats or branches, and is repeated, is the dangerous kind. */
function repeatsRepetition(plain: string): boolean {
  let left = plain.replaceAll("(?:", "(");
  for (let depth = 0; depth < 50; depth += 1) {
    const group = /\((?<inner>[^()]*)\)(?<times>[*+?]|\{[^}]*\})?/.exec(left);
    if (group?.groups === undefined) return false;
    const { inner = "", times = "" } = group.groups;
    const isLoose = /[*+|]|\{\d*,/.test(inner);
    const isRepeated = times !== "" && times !== "?";
    if (isLoose && isRepeated) return true;
    left = left.replace(group[0], () => (isLoose ? "x+" : `x${times}`));
  }
  return true;
}
