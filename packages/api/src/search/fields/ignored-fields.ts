import { type FieldScope, type FieldVerdict, isPart, type SpecPart } from "./field-verdict.ts";
import { pathsAbove, searchFields, type SearchKind } from "./search-fields.ts";

/** A field that an object sets and that has no effect on it, or that its kind refuses. */
export interface NamedField {
  /** E.g. `spec.nodePools[0].probes`. */
  readonly path: string;
  /** Why, and what to write instead. */
  readonly why: string;
}

/** Parts that do nothing unless this field of theirs is true. */
const switches: ReadonlyMap<string, string> = new Map([
  ["dashboards", "enable"],
  ["kibana", "enable"],
  ["dashboards.tls", "enable"],
  ["kibana.tls", "enable"],
  ["general.grpc", "enable"],
  ["general.monitoring", "enable"],
  ["nodePools[].pdb", "enable"],
]);

/** Fields that the spec sets without effect. */
export function ignoredFields(kind: SearchKind, spec: object): readonly NamedField[] {
  return namedFields(kind, spec, idleReason);
}

/** Fields that the spec must not set. */
export function refusedFields(kind: SearchKind, spec: object): readonly NamedField[] {
  return namedFields(kind, spec, (verdict, value) =>
    verdict.verdict === "refused" && isGiven(value) ? verdict.why : undefined,
  );
}

type Reason = (verdict: FieldVerdict, value: unknown, scope: FieldScope) => string | undefined;

function namedFields(kind: SearchKind, spec: object, reason: Reason): readonly NamedField[] {
  const root: SpecPart = { ...spec };
  return fieldsIn(root, {
    table: new Walk(kind, reason),
    at: "",
    shown: "spec",
    scope: { spec: root, item: root },
  });
}

/** One pass over a spec. */
class Walk {
  readonly #kind: SearchKind;
  readonly #reason: Reason;

  constructor(kind: SearchKind, reason: Reason) {
    this.#kind = kind;
    this.#reason = reason;
  }

  /** Why a value is named; undefined where it is not. */
  why(at: string, value: unknown, scope: FieldScope): string | undefined {
    const verdict = searchFields[this.#kind][at];
    return verdict === undefined ? undefined : this.#reason(verdict, value, scope);
  }

  /** Whether the table has paths below this one. */
  isParent(at: string): boolean {
    return at === "" || parents(this.#kind).has(at);
  }
}

interface Place {
  readonly table: Walk;
  /** Path in the table. */
  readonly at: string;
  /** Path for people. */
  readonly shown: string;
  readonly scope: FieldScope;
}

function fieldsIn(part: SpecPart, place: Place): readonly NamedField[] {
  const switched = switchedOff(part, place);
  if (switched !== undefined) return switched;
  return Object.entries(part).flatMap(([key, value]) =>
    fieldsAt(value, {
      ...place,
      at: place.at === "" ? key : `${place.at}.${key}`,
      shown: `${place.shown}.${key}`,
    }),
  );
}

/** A part that is off has no effect, which is what its author says; unless the author has forgotten to switch it on. */
function switchedOff(part: SpecPart, { at, shown, table, scope }: Place): readonly NamedField[] | undefined {
  const field = switches.get(at);
  if (field === undefined || part[field] === true) return undefined;
  const others = Object.entries(part).filter(([key, value]) => key !== field && isGiven(value));
  // Defaults of the API server are not the author's words.
  const isForgotten = part[field] === undefined && others.some(([key, value]) => !isDefault(key, value));
  const why = table.why(`${at}.${field}`, true, scope) ?? `${field} is not true.`;
  return isForgotten ? [{ path: shown, why }] : [];
}

function isDefault(key: string, value: unknown): boolean {
  return (key === "replicas" && value === 1) || (key === "duration" && value === "8760h");
}

function fieldsAt(value: unknown, place: Place): readonly NamedField[] {
  const { at, shown, table, scope } = place;
  const why = table.why(at, value, scope);
  if (why !== undefined) return [{ path: shown, why }];
  if (!table.isParent(at)) return [];
  if (isPart(value)) return fieldsIn(value, place);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown, index) =>
    isPart(item)
      ? fieldsIn(item, {
          ...place,
          at: `${at}[]`,
          shown: `${shown}[${String(index)}]`,
          scope: { ...scope, item },
        })
      : [],
  );
}

function idleReason(verdict: FieldVerdict, value: unknown, scope: FieldScope): string | undefined {
  if (!isGiven(value) || verdict.verdict === "refused") return undefined;
  if (verdict.verdict === "none") return verdict.agrees.includes(value) ? undefined : verdict.why;
  return verdict.idle.find(({ when }) => when(scope))?.why;
}

/** Whether anything is said: upstream's defaults fill names with "", and nulls are absent. */
function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return isPart(value) ? Object.values(value).some(isGiven) : true;
}

const known = new Map<SearchKind, ReadonlySet<string>>();

/** Paths of the table above others, computed once. */
function parents(kind: SearchKind): ReadonlySet<string> {
  const before = known.get(kind);
  if (before !== undefined) return before;
  const all = new Set([...Object.keys(searchFields[kind]), ...switches.keys()].flatMap(pathsAbove));
  known.set(kind, all);
  return all;
}
