/** The cases of one specification: `name` is the file in docs/acceptance without `.md`. */
export interface CaseList {
  readonly name: string;
  readonly ids: readonly string[];
}

const row = /^\| *(?<id>[A-Za-z0-9][A-Za-z0-9-]*) *\|/;

/** Reads the ids out of the tables `| id | case |` of one acceptance file, in their order. */
export function parseCaseList(name: string, markdown: string): CaseList {
  const cells = markdown.split("\n").map((line) => row.exec(line)?.groups?.["id"]);
  return { name, ids: cells.filter((id) => id !== undefined && id !== "id").map(String) };
}
