/** A value that may change while we run: a file's content, a plugin's answer. */
export interface Source<T> {
  /** What holds now; a promise only where it must be fetched first. The same value as before while nothing changed. */
  current(): T | Promise<T>;
  /** Fetches afresh, because the server refused what `current` gave. Callers at the same time share one fetch. */
  refresh(): Promise<T>;
}

/** A value that never changes. */
export function fixedSource<T>(value: T): Source<T> {
  return { current: () => value, refresh: async () => await Promise.resolve(value) };
}

/** One value made of several sources, and made anew only when one of them changed. */
export function combineSources<A, B, T>(
  first: Source<A>,
  second: Source<B>,
  combine: (first: A, second: B) => T,
): Source<T> {
  let made: { readonly a: A; readonly b: B; readonly value: T } | undefined;
  const make = (a: A, b: B): T => {
    if (made === undefined || made.a !== a || made.b !== b) made = { a, b, value: combine(a, b) };
    return made.value;
  };
  return {
    current: () => {
      const a = first.current();
      const b = second.current();
      if (a instanceof Promise || b instanceof Promise) {
        return Promise.all([a, b]).then(([x, y]) => make(x, y));
      }
      return make(a, b);
    },
    refresh: async () => {
      const [a, b] = await Promise.all([first.refresh(), second.refresh()]);
      return make(a, b);
    },
  };
}
