/**
 * Works on every item, at most `limit` at the same time, and returns the results in the items' order. After the first failure no
 * further item is started; those in progress are awaited, then the failure is thrown.
 *
 * @example
 * const pods = await inParallel(names, 16, async (name) => await client.find(podKind, { namespace, name }));
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = Array.from<R>({ length: items.length });
  const failures: unknown[] = [];
  const open = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of open) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
