/**
 * Two sets of hooks (functions by name that receive something) as one: a hook that both have is called in both, the first one's first.
 *
 * @example
 * createManager({ telemetry: both<Telemetry>(metrics.telemetry, spans.telemetry), ... });
 */
export function both<H extends object>(first: H, second: H): H {
  const merged = new Map<string, unknown>(Object.entries(first));
  for (const [name, hook] of Object.entries(second)) merged.set(name, joined(merged.get(name), hook));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every hook keeps its name and its parameters
  return Object.fromEntries(merged) as H;
}

function joined(one: unknown, other: unknown): unknown {
  if (typeof one !== "function" || typeof other !== "function") return one ?? other;
  return (...reported: readonly unknown[]): void => {
    Reflect.apply(one, undefined, reported);
    Reflect.apply(other, undefined, reported);
  };
}
