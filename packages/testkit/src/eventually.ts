import { setTimeout as sleep } from "node:timers/promises";

/** How long to look, and how often. */
export interface EventuallyOptions {
  /** Default: a minute. */
  readonly withinMs?: number;
  /** Default: from 30 ms at first to 150 ms after two seconds, because a quarter of a run's requests were looks at what had not changed. */
  readonly everyMs?: number;
}

const firstPauseMs = 30;
const lastPauseMs = 150;
/** The pause grows by a part of the time that has passed. */
const growth = 0.06;

/**
 * Looks again and again until `probe` gives something other than undefined or false, and gives that. A probe that throws
 * counts as "not yet". Fails with the last state it saw: call `see` with it.
 *
 * @example
 * const pod = await eventually(async (see) => { const pod = see(await read()); return pod.ready ? pod : undefined; });
 */
export async function eventually<T>(
  probe: (see: <S>(state: S) => S) => Promise<T | undefined | false> | T | undefined | false,
  { withinMs = 60_000, everyMs }: EventuallyOptions = {},
): Promise<T> {
  const begunMs = performance.now();
  const deadline = begunMs + withinMs;
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
    await sleep(everyMs ?? Math.min(lastPauseMs, firstPauseMs + growth * (performance.now() - begunMs)));
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
