import { setTimeout as sleep } from "node:timers/promises";

/** How long to look, and how often. */
export interface EventuallyOptions {
  /** Default: a minute. */
  readonly withinMs?: number;
  /** Default: 50 ms. */
  readonly everyMs?: number;
}

/**
 * Looks again and again until `probe` gives something other than undefined or false, and gives that. A probe that throws
 * counts as "not yet". Fails with the last state it saw: call `see` with it.
 *
 * @example
 * const pod = await eventually(async (see) => { const pod = see(await read()); return pod.ready ? pod : undefined; });
 */
export async function eventually<T>(
  probe: (see: <S>(state: S) => S) => Promise<T | undefined | false> | T | undefined | false,
  { withinMs = 60_000, everyMs = 50 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let lastSeen: unknown = "nothing";
  const see = <S>(state: S): S => {
    lastSeen = state;
    return state;
  };
  for (;;) {
    const { value, error } = await tryOnce(async () => await probe(see));
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) {
      throw new Error(`not within ${withinMs} ms; last seen: ${describe(lastSeen)}`, { cause: error });
    }
    await sleep(everyMs);
  }
}

async function tryOnce<T>(
  probe: () => Promise<T>,
): Promise<{ readonly value?: T; readonly error?: unknown }> {
  try {
    return { value: await probe() };
  } catch (error) {
    return { error };
  }
}

function describe(state: unknown): string {
  return typeof state === "string" ? state : JSON.stringify(state, undefined, 2);
}
