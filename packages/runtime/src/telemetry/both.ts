/** Hooks by name: functions that are told something and give nothing back. */
type Hooks = object;

/**
 * Two sets of hooks as one: a hook that both have is called in both, the first one's first.
 *
 * @example
 * createManager({ telemetry: both<Telemetry>(metrics.telemetry, spans.telemetry), ... });
 */
export function both<H extends Hooks>(first: H, second: H): H {
  const merged: Record<string, unknown> = { ...first };
  for (const [name, hook] of Object.entries(second)) merged[name] = joined(merged[name], hook);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every hook keeps its name and its parameters
  return merged as H;
}

function joined(one: unknown, other: unknown): unknown {
  if (typeof one !== "function" || typeof other !== "function") return one ?? other;
  return (...told: readonly unknown[]): void => {
    Reflect.apply(one, undefined, told);
    Reflect.apply(other, undefined, told);
  };
}
