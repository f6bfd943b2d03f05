/** A spec of any kind of search cluster, or a part of one, as plain data. */
export type SpecPart = Readonly<Record<string, unknown>>;

/** Where a value stands: in which spec, and in which element of its list. */
export interface FieldScope {
  readonly spec: SpecPart;
  /** Element of the innermost list that holds the field, e.g. its pool; the spec itself outside of lists. */
  readonly item: SpecPart;
}

/** A case in which a field that has an effect otherwise has none. */
export interface IdleCase {
  readonly when: (scope: FieldScope) => boolean;
  /** Why, and what to write instead. */
  readonly why: string;
}

/** What a field does. A verdict holds for everything below its path too, unless a longer path has its own. */
export type FieldVerdict =
  | {
      readonly verdict: "effect";
      /** Object, setting of the engine, or lane that shows it. */
      readonly shown: string;
      readonly idle: readonly IdleCase[];
    }
  | {
      readonly verdict: "none";
      /** Why, and what to write instead. */
      readonly why: string;
      /** Values that say what happens anyway: they are honored by definition. */
      readonly agrees: readonly unknown[];
    }
  | { readonly verdict: "refused"; readonly why: string };

/** Verdicts by path below `spec`; `[]` stands for any element of a list. */
export type FieldTable = Readonly<Record<string, FieldVerdict>>;

/** The field has an effect, which the object, setting or lane shows. */
export function effect(shown: string, ...idle: readonly IdleCase[]): FieldVerdict {
  return { verdict: "effect", shown, idle };
}

/** The field has no effect by design. */
export function none(why: string, agrees: readonly unknown[] = []): FieldVerdict {
  return { verdict: "none", why, agrees };
}

/** A spec with the field is refused. */
export function refused(why: string): FieldVerdict {
  return { verdict: "refused", why };
}

/** A nested value; undefined where a part of the path is absent. */
export function valueAt(part: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isPart(value) ? value[key] : undefined), part);
}

/** Whether a value is an object of fields. */
export function isPart(value: unknown): value is SpecPart {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same verdicts below a prefix. */
export function below(prefix: string, table: FieldTable): FieldTable {
  return Object.fromEntries(Object.entries(table).map(([path, verdict]) => [`${prefix}.${path}`, verdict]));
}
