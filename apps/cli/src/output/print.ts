import { stringify } from "yaml";

import { cleanLines, escapedData } from "./clean-text.ts";
import type { Terminal } from "./terminal.ts";

/** How results are written: for people, or for programs. */
export type OutputFormat = "text" | "json" | "yaml";

/** One result in its two shapes. */
export interface Printable {
  readonly data: unknown;
  readonly text: string;
}

/** Writes a result as the user requested it. */
export function print(terminal: Terminal, format: OutputFormat, { data, text }: Printable): void {
  if (format === "text") terminal.write(cleanLines(text, { colors: terminal.hasColor }));
  else terminal.write(format === "json" ? toJson(data) : toYaml(data).trimEnd());
}

/** JSON that does nothing to a terminal. */
export function toJson(value: unknown): string {
  return escapedData(JSON.stringify(value, undefined, 2));
}

/**
 * YAML that tools of YAML 1.1, such as kubectl, read as it is meant: text is always quoted, so `no` and `=` stay text, and
 * numbers beyond a double keep their digits. It does nothing to a terminal.
 */
export function toYaml(value: unknown): string {
  const plain: unknown = JSON.parse(JSON.stringify(value), keepDigits);
  const text = stringify(plain, {
    version: "1.1",
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
  return escapedData(text);
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isExact = typeof value !== "number" || Number.isSafeInteger(value);
  const digits = context?.source ?? "";
  return isExact || !/^-?\d+$/.test(digits) ? value : BigInt(digits);
}
