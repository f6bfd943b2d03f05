import type { KubeObject } from "./kube-object.ts";

/** One demand of a label selector; all of them must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** Reads `app=shop,tier in (a, b),!beta` as the API server does. Undefined when it is malformed or demands nothing. */
export function parseLabelSelector(selector: string): readonly LabelRequirement[] | undefined {
  const terms = readTerms(selector);
  const requirements = terms.filter((term) => term !== undefined);
  return requirements.length === terms.length ? requirements : undefined;
}

/** Term by term; undefined stands for one that cannot be read. */
function readTerms(selector: string): readonly (LabelRequirement | undefined)[] {
  return splitDemands(selector).map((part) => parseRequirement(part.trim()));
}

/** Whether labels meet every demand; `valueOf` gives the label of a key. */
export function meetsAll(
  valueOf: (key: string) => string | undefined,
  requirements: readonly LabelRequirement[],
): boolean {
  return requirements.every((requirement) => meets(valueOf(requirement.key), requirement));
}

/** At the commas that are not between brackets. One walk: an expression with look-ahead is quadratic. */
function splitDemands(selector: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isInBrackets = false;
  for (let at = 0; at < selector.length; at += 1) {
    const character = selector[at];
    if (character === "(" || character === ")") isInBrackets = character === "(";
    if (character !== "," || isInBrackets) continue;
    parts.push(selector.slice(start, at));
    start = at + 1;
  }
  return [...parts, selector.slice(start)];
}

/** As the API server has it, `!=` and `notin` also hold for objects without the label. */
function meets(value: string | undefined, { operator, values }: LabelRequirement): boolean {
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  const isListed = value !== undefined && values.includes(value);
  return operator === "In" ? isListed : !isListed;
}

const key = String.raw`(?<key>[A-Za-z0-9][-A-Za-z0-9_./]{0,316})`;
const presence = new RegExp(`^(?<not>!?)\\s*${key}$`);
const equality = new RegExp(`^${key}\\s*(?<operator>==?|!=)\\s*(?<value>[-A-Za-z0-9_.]{0,63})$`);
const membership = new RegExp(`^${key}\\s+(?<operator>in|notin)\\s*\\((?<values>[-A-Za-z0-9_.,\\s]*)\\)$`);

function parseRequirement(text: string): LabelRequirement | undefined {
  return parseEquality(text) ?? parseMembership(text) ?? parsePresence(text);
}

function parseEquality(text: string): LabelRequirement | undefined {
  const groups = equality.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const operator = groups["operator"] === "!=" ? "NotIn" : "In";
  return { key: groups["key"] ?? "", operator, values: [groups["value"] ?? ""] };
}

function parseMembership(text: string): LabelRequirement | undefined {
  const groups = membership.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const values = (groups["values"] ?? "").split(",").map((value) => value.trim());
  return { key: groups["key"] ?? "", operator: groups["operator"] === "in" ? "In" : "NotIn", values };
}

function parsePresence(text: string): LabelRequirement | undefined {
  const groups = presence.exec(text)?.groups;
  if (groups === undefined) return undefined;
  return {
    key: groups["key"] ?? "",
    operator: groups["not"] === "!" ? "DoesNotExist" : "Exists",
    values: [],
  };
}

/** The selectors of a watch. */
interface Selection {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Whether an object may be among those selected: false when it certainly is not; what only the server knows counts as yes. */
export function mayMatch({
  labelSelector = "",
  fieldSelector = "",
}: Selection): (object: KubeObject) => boolean {
  const demands = readTerms(labelSelector).filter((term) => term !== undefined);
  const names = fieldSelector.split(",").flatMap((term) => readName(term.trim()) ?? []);
  return ({ metadata }) => {
    const labels = new Map(Object.entries(metadata.labels ?? {}));
    return (
      meetsAll((name) => labels.get(name), demands) &&
      names.every(({ field, isEqual, value }) => ((metadata[field] ?? "") === value) === isEqual)
    );
  };
}

interface NameDemand {
  readonly field: "name" | "namespace";
  readonly isEqual: boolean;
  readonly value: string;
}

/** Of the fields of an object only these two are the same in every kind. */
function readName(term: string): NameDemand | undefined {
  const groups = /^metadata\.(?<field>name(?:space)?)\s*(?<sign>==?|!=)\s*(?<value>[\w.-]*)$/.exec(
    term,
  )?.groups;
  if (groups === undefined) return undefined;
  const field = groups["field"] === "name" ? "name" : "namespace";
  return { field, isEqual: groups["sign"] !== "!=", value: groups["value"] ?? "" };
}
