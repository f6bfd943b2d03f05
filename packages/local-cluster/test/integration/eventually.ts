/** Polls until `probe` gives something other than undefined; fails with the last thing `describe` saw. */
export async function eventually<T>(
  probe: () => Promise<T | undefined> | T | undefined,
  describe: () => string,
  withinMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms; last seen: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
