/** Runs the work for every item, so many at a time, and gives the results in the items' order. */
export async function inBatches<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = Array.from<R>({ length: items.length });
  const open = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of open) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
