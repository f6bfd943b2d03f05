/** A server that asks for more is not believed. */
const longestMs = 60_000;

/** What `Retry-After` (seconds or a date) or the Status asks us to wait, bounded; undefined when nothing usable is said. */
export function retryAfterMsOf(
  header: string | undefined,
  statusSeconds: number | undefined,
  wallMs: number,
): number | undefined {
  const askedMs =
    headerMs(header, wallMs) ?? (statusSeconds === undefined ? undefined : statusSeconds * 1_000);
  if (askedMs === undefined || Number.isNaN(askedMs)) return undefined;
  return Math.min(Math.max(askedMs, 0), longestMs);
}

function headerMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dateMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : dateMs - wallMs;
}
