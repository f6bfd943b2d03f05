/** A number that a double cannot hold, as the digits it was written with: the runtime's `RawNumber`. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** A double where it says the same as the digits, the digits themselves where it does not. */
export function exactNumber(digits: string): number | ExactNumber {
  const value = Number(digits);
  return isRounded(digits, value) ? rawJson.rawJSON(digits) : value;
}

/** Whether the value is such a number. An object that merely has a field `rawJSON` is not. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return rawJson.isRawJSON(value);
}

/** Compares the significant digits: `1.50` and `1.5` are the same, `9007199254740993` and its double are not. */
function isRounded(digits: string, value: number): boolean {
  const shortest = String(value);
  if (shortest === digits) return false;
  return !Number.isFinite(value) || significant(digits) !== significant(shortest);
}

function significant(digits: string): string {
  const [mantissa = ""] = digits.toLowerCase().split("e");
  const bare = mantissa.replaceAll(/[-+.]/g, "").replace(/^0+/, "");
  return bare.replace(/0+$/, "");
}

interface RawJson {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): boolean;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members exist from Node 22 on, the types do not
const rawJson = JSON as unknown as RawJson;
