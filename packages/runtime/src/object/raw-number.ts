/** A number that a double cannot hold, as the digits it was written with. `JSON.stringify` writes it unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** The number as it is written, e.g. `9223372036854775807`. Throws a SyntaxError when the text is no number. */
export function rawNumber(digits: string): RawNumber {
  if (!numberText.test(digits)) throw new SyntaxError("not a JSON number");
  return rawJson.rawJSON(digits);
}

/** Whether the value is such a number. An object of a cluster that merely has a field `rawJSON` is not. */
export function isRawNumber(value: unknown): value is RawNumber {
  return rawJson.isRawJSON(value);
}

/** A double where it means the same number as the text, the digits themselves where it does not. Throws as `rawNumber` does. */
export function exactNumber(text: string): number | RawNumber {
  const value = Number(text);
  return isSameNumber(text, String(value)) ? value : rawNumber(text);
}

/** Whether two notations mean the same number: `1.50` and `1.5`, `1e3` and `1000`. */
function isSameNumber(text: string, other: string): boolean {
  return text === other || canonical(text) === canonical(other);
}

/** Significant digits and power of ten. */
function canonical(text: string): string {
  const match = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/.exec(text);
  if (match?.groups === undefined) return text;
  const { sign = "", whole = "", fraction = "", exponent = "0" } = match.groups;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.slice(0, endOfDigits(digits));
  if (significant === "") return "0";
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}

/** Where the zeros at the end begin. `/0+$/` would try each run of zeros from each of its digits: hours for a hostile number. */
function endOfDigits(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return end;
}

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Part of Node 24 that TypeScript's library does not know yet. */
interface RawJson {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): boolean;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members exist from Node 22 on, the types do not
const rawJson = JSON as unknown as RawJson;
