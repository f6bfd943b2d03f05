const unitsMs = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** Milliseconds of a duration as Go writes it: `10s`, `1m30s`, `2.5s`; undefined when it is not one, or nothing. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h)){1,4}$/.test(text)) return undefined;
  const parts = text.matchAll(/(?<amount>[\d.]+)(?<unit>ms|s|m|h)/g);
  const totalMs = [...parts].reduce(
    (sum, { groups }) => sum + Number(groups?.["amount"]) * (unitsMs.get(groups?.["unit"] ?? "") ?? 0),
    0,
  );
  return totalMs > 0 ? totalMs : undefined;
}
