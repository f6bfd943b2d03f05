import { eventually as observation } from "@quartermaster/testkit";

/** Looks until `probe` gives something other than undefined; fails with what `describe` says then. */
export async function eventually<T>(
  probe: () => Promise<T | undefined> | T | undefined,
  describe: () => string,
  withinMs = 30_000,
): Promise<T> {
  return await observation<T>(
    async (see) => {
      const value = await probe();
      see(describe());
      return value;
    },
    { withinMs },
  );
}
