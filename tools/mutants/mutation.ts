/** A change of one place in a source file that some test has to notice. */
export interface Mutation {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Operator that made it, or the topic of a listed one, e.g. `boundary`. */
  readonly operator: string;
  /** What goes wrong, for the table: `packages/x/src/y.ts:12 a > b -> a >= b`. */
  readonly title: string;
}

/** The file's text with the mutation in it. */
export function mutated(text: string, { start, end, replacement }: Mutation): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** A mutation with a title that says where it is and what it changes. */
export function mutationOf(
  source: { readonly file: string; readonly text: string },
  operator: string,
  { start, end, replacement }: Edit,
): Mutation {
  const { file, text } = source;
  const line = text.slice(0, start).split("\n").length;
  const title = `${file}:${String(line)} ${inOneLine(text.slice(start, end))} -> ${inOneLine(replacement)}`;
  return { file, start, end, replacement, operator, title };
}

/** What an operator changes. */
export type Edit = Pick<Mutation, "start" | "end" | "replacement">;

function inOneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line === "") return "nothing";
  return line.length > 70 ? `${line.slice(0, 67)}...` : line;
}
