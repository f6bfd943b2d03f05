import { durationMs } from "../object/duration-ms.ts";

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
