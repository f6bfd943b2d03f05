import { printable } from "@quartermaster/runtime";

/** Text of the cluster without characters that would steer a terminal; long text is cut. */
export function cleanText(text: string, limit = 300): string {
  const clean = printable(text);
  return clean.length <= limit ? clean : `${clean.slice(0, limit - 1)}…`;
}

/** Several lines, wherever their words come from; `colors` are those that we give ourselves and stay. */
export function cleanLines(text: string, { colors }: { readonly colors: boolean }): string {
  // oxlint-disable-next-line no-control-regex -- the escape that begins a colour
  const kept = colors ? /(\n|\u001b\[\d{1,2}m)/ : /(\n)/;
  return text
    .split(kept)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join("");
}

/** JSON or YAML in which every such character is escaped; what it says stays the same. */
export function escapedData(text: string): string {
  return text.replaceAll(/[\u007f-\u009f]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
