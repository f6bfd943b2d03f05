/** Most characters of one item: names of settings and the like are an author's. */
const longest = 300;

/**
 * The first ten and how many more there are: a message has room for 4,096 characters, and one that is longer keeps the whole status from being
 * written.
 *
 * @example
 * firstTen(["a", "b"]); // "a, b"
 */
export function firstTen(items: readonly string[], separator = ", "): string {
  const named = items
    .slice(0, 10)
    .map((item) => (item.length > longest ? `${item.slice(0, longest)}…` : item));
  const rest = items.length - named.length;
  return `${named.join(separator)}${rest > 0 ? ` and ${String(rest)} more` : ""}`;
}
