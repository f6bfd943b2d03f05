/** What steers a terminal, or turns the order of its letters round. */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const steering = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g;

/** Text of the cluster without characters that would steer a terminal; long text is cut. */
export function cleanText(text: string, limit = 300): string {
  const clean = text.replaceAll(steering, " ");
  return clean.length <= limit ? clean : `${clean.slice(0, limit - 1)}…`;
}

/** Several lines, wherever their words come from; `colors` are those that we give ourselves and stay. */
export function cleanLines(text: string, { colors }: { readonly colors: boolean }): string {
  // oxlint-disable-next-line no-control-regex -- as above
  const kept = colors ? /(\n|\u001b\[\d{1,2}m)/ : /(\n)/;
  return text
    .split(kept)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(steering, " ")))
    .join("");
}

/** JSON or YAML in which every such character is escaped; what it says stays the same. */
export function escapedData(text: string): string {
  return text.replaceAll(/[\u007f-\u009f]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
