/** Characters that steer a terminal, begin a new line, or reverse the order of letters. */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const steering = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/;
const everySteering = new RegExp(steering, "g");

/** The text with a space for each run of such characters: people read it in a terminal, and others chose its words. */
export function printable(text: string): string {
  return steering.test(text) ? text.replaceAll(everySteering, " ") : text;
}

/** The same for every text in plain JSON, however deep; what needs no change is returned as it is. */
export function printableDeep(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) {
    const items = value.map(printableDeep);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, held]) => [key, held, printableDeep(held)] as const);
  if (entries.every(([, held, clean]) => held === clean)) return value;
  return Object.fromEntries(entries.map(([key, , clean]) => [key, clean]));
}

/** Numbers in their own digits are objects too. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}
