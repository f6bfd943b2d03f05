/** How long the API server waits for us, from the `timeout` that it puts into the query; 10 s where it says nothing. */
export function callerTimeoutMs(url: URL): number {
  const given = durationMs(url.searchParams.get("timeout") ?? "");
  return Math.min(given ?? defaultMs, longestMs);
}

/** The share of the caller's time that we use; the rest is for the way back. */
export function answerWithinMs(timeoutMs: number): number {
  return timeoutMs - Math.min(500, timeoutMs / 10);
}

const defaultMs = 10_000;

/** What a webhook configuration can ask for at most. */
const longestMs = 30_000;

const unitsMs = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** Go's way of writing durations: `10s`, `1m30s`, `2.5s`. */
function durationMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h)){1,4}$/.test(text)) return undefined;
  const parts = text.matchAll(/(?<amount>[\d.]+)(?<unit>ms|s|m|h)/g);
  const totalMs = [...parts].reduce(
    (sum, { groups }) => sum + Number(groups?.["amount"]) * (unitsMs.get(groups?.["unit"] ?? "") ?? 0),
    0,
  );
  return totalMs > 0 ? totalMs : undefined;
}
