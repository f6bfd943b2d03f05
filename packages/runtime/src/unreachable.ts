/** Ends a switch over a union: a case that is missing is a compile error here. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected ${String(value)}`);
}
