/** The name that was probably meant: the nearest one, if at most a third of its letters differ. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: editDistance(typed.slice(0, longestTyped), name) }))
    .toSorted((one, other) => one.distance - other.distance);
  const [nearest] = ranked;
  if (nearest === undefined || nearest.distance > Math.ceil(nearest.name.length / 3)) return undefined;
  return nearest.name;
}

const longestTyped = 64;

/** Letters to insert, delete, replace or swap with their neighbor. */
function editDistance(one: string, other: string): number {
  const rows: number[][] = [];
  const known = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 0; row <= one.length; row += 1) {
    rows.push([]);
    for (let column = 0; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const distance = Math.min(
        known(row - 1, column) + 1,
        known(row, column - 1) + 1,
        known(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwap ? known(row - 2, column - 2) + 1 : Infinity,
      );
      rows[row]?.push(row + column === 0 ? 0 : distance);
    }
  }
  return known(one.length, other.length);
}
