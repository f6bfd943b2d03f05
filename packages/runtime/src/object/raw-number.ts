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

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What Node 24 has and TypeScript's library does not know yet. */
interface RawJson {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): boolean;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members exist from Node 22 on, the types do not
const rawJson = JSON as unknown as RawJson;
