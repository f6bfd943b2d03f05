import type { KubeObject } from "../object/kube-object.ts";

/** The selectors of a watch. */
interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** False when an object is certainly not among those selected; what only the server can tell counts as selected. */
export function mayMatch({ labelSelector, fieldSelector }: Selection, { metadata }: KubeObject): boolean {
  const labels = new Map(Object.entries(metadata.labels ?? {}));
  const fields = new Map([
    ["metadata.name", metadata.name],
    ["metadata.namespace", metadata.namespace ?? ""],
  ]);
  return (
    termsOf(labelSelector).every((term) => holds(term, labels)) &&
    termsOf(fieldSelector).every((term) => !fields.has(keyOf(term)) || holds(term, fields))
  );
}

/** Parts between commas that are not inside brackets. */
function termsOf(selector = ""): readonly string[] {
  return (selector.match(/(?:\([^()]*\)|[^,()])+/g) ?? []).map((term) => term.trim());
}

const key = String.raw`(?<key>[\w./-]+)`;
const shapes: readonly [RegExp, (value: string | undefined, wanted: readonly string[]) => boolean][] = [
  [new RegExp(`^${key}$`), (value) => value !== undefined],
  [new RegExp(`^!\\s*${key}$`), (value) => value === undefined],
  [new RegExp(`^${key}\\s*==?\\s*(?<values>[\\w.-]*)$`), isAmong],
  [new RegExp(`^${key}\\s*!=\\s*(?<values>[\\w.-]*)$`), isNotAmong],
  [new RegExp(`^${key}\\s+in\\s*\\((?<values>[^()]*)\\)$`), isAmong],
  [new RegExp(`^${key}\\s+notin\\s*\\((?<values>[^()]*)\\)$`), isNotAmong],
];

function isAmong(value: string | undefined, wanted: readonly string[]): boolean {
  return value !== undefined && wanted.includes(value);
}

/** As the server has it: what is not there is not among them either. */
function isNotAmong(value: string | undefined, wanted: readonly string[]): boolean {
  return !isAmong(value, wanted);
}

/** A term that is none of ours to read holds. */
function holds(term: string, held: ReadonlyMap<string, string>): boolean {
  for (const [shape, judge] of shapes) {
    const groups = shape.exec(term)?.groups;
    if (groups === undefined) continue;
    const wanted = (groups["values"] ?? "").split(",").map((value) => value.trim());
    return judge(held.get(groups["key"] ?? ""), wanted);
  }
  return true;
}

function keyOf(term: string): string {
  return /^[\w./-]*/.exec(term)?.[0] ?? "";
}
