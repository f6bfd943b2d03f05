/** An object whose optional fields are absent where they have no value. */
export type DefinedFields<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** The fields that have a value: for API objects, whose types do not allow a key without one. */
export function definedFields<T extends object>(fields: T): DefinedFields<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields without those that are undefined
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as DefinedFields<T>;
}
