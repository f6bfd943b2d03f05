import { isRawNumber } from "../object/raw-number.ts";

/** Writes JSON without recursion, for values nested deeper than `JSON.stringify` goes. Same text for the same value. */
export function writeDeep(value: unknown): string {
  const parts: string[] = [];
  const work: Step[] = [{ value }];
  for (let step = work.pop(); step !== undefined; step = work.pop()) {
    if ("text" in step) parts.push(step.text);
    else writeOne(step.value, parts, work);
  }
  return parts.join("");
}

/** Ready text, or a value still to be written. */
type Step = { readonly text: string } | { readonly value: unknown };

function writeOne(value: unknown, parts: string[], work: Step[]): void {
  if (typeof value !== "object" || value === null || isRawNumber(value)) {
    parts.push(isWritable(value) ? JSON.stringify(value) : "null");
  } else if (Array.isArray(value)) writeList(value, parts, work);
  else writeObject(value, parts, work);
}

function writeList(list: readonly unknown[], parts: string[], work: Step[]): void {
  parts.push("[");
  work.push({ text: "]" });
  for (let index = list.length - 1; index >= 0; index -= 1) {
    work.push({ value: list[index] });
    if (index > 0) work.push({ text: "," });
  }
}

function writeObject(object: object, parts: string[], work: Step[]): void {
  const entries = Object.entries(object).filter(([, value]) => isWritable(value));
  parts.push("{");
  work.push({ text: "}" });
  for (const [index, [key, value]] of [...entries.entries()].toReversed()) {
    work.push({ value }, { text: `${index > 0 ? "," : ""}${JSON.stringify(key)}:` });
  }
}

/** What JSON has no word for is left out of objects and null in lists, as the built-in writer does. */
function isWritable(value: unknown): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
