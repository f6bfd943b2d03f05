import { digestOf, type System } from "@quartermaster/runtime";

import { type EngineCall, engineCalls, type EngineClient, engineReads } from "./engine-client.ts";
import { EngineError } from "./engine-error.ts";

/** Longest time that one reconcile waits for the calls that it makes: a silent engine must not keep a worker from other clusters. */
export const reconcileWaitMs = 4_000;

/** How long the calls may be waited for. */
export interface EngineBudget {
  readonly system: Pick<System, "monotonicMs" | "setTimer">;
  readonly budgetMs: number;
}

/**
 * The client for one reconcile. When the time of all its calls together is over, what runs and what follows fails as a timeout that may
 * have acted. A write that runs continues to its own limit, and the same write in a later reconcile waits for it instead of sending it
 * again: so one that takes long, such as a repository that every node tries out, still ends.
 *
 * @example
 * const engine = boundedEngine(client, { system, budgetMs: reconcileWaitMs });
 */
export function boundedEngine(client: EngineClient, { system, budgetMs }: EngineBudget): EngineClient {
  const clock = new WaitClock(system, budgetMs);
  return new Proxy(client, {
    get: (inner, name): unknown => {
      const found: unknown = Reflect.get(inner, name, inner);
      if (typeof found !== "function") return found;
      const call = (...args: readonly unknown[]): unknown => Reflect.apply(found, inner, args);
      return isCall(name)
        ? async (...args: readonly unknown[]): Promise<unknown> =>
            await clock.wait(name, () => running(inner, name, { args, call }))
        : call;
    },
  });
}

/** Time goes by while at least one call is waited for. */
class WaitClock {
  readonly #system: EngineBudget["system"];
  #leftMs: number;
  #waiting = 0;
  #sinceMs = 0;

  constructor(system: EngineBudget["system"], budgetMs: number) {
    this.#system = system;
    this.#leftMs = budgetMs;
  }

  async wait(name: EngineCall, begin: () => unknown): Promise<unknown> {
    const nowMs = this.#system.monotonicMs();
    if (this.#waiting === 0) this.#sinceMs = nowMs;
    const leftMs = this.#leftMs - (nowMs - this.#sinceMs);
    if (leftMs <= 0) throw late(name, false);
    this.#waiting += 1;
    const over = Promise.withResolvers<never>();
    const timer = this.#system.setTimer(leftMs, () => {
      over.reject(late(name, true));
    });
    try {
      return await Promise.race([begin(), over.promise]);
    } finally {
      timer.cancel();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#leftMs -= this.#system.monotonicMs() - this.#sinceMs;
    }
  }
}

function late(name: EngineCall, mayHaveActed: boolean): EngineError {
  return new EngineError(`${name}: no response in the time of a reconcile`, {
    code: "timeout",
    mayHaveActed,
  });
}

/** Never read from what an earlier reconcile began: it would be older than what was written since. */
const reads: ReadonlySet<string> = new Set<string>(engineReads);

const calls: ReadonlySet<string> = new Set<string>(engineCalls);

function isCall(name: string | symbol): name is EngineCall {
  return typeof name === "string" && calls.has(name);
}

/** Writes that are not over, by client. Keys are digests: arguments may hold credentials. */
const open = new WeakMap<EngineClient, Map<string, Promise<unknown>>>();

interface Begun {
  readonly args: readonly unknown[];
  readonly call: (...args: readonly unknown[]) => unknown;
}

function running(client: EngineClient, name: EngineCall, { args, call }: Begun): unknown {
  if (reads.has(name)) return call(...args);
  const writes = open.get(client) ?? new Map<string, Promise<unknown>>();
  open.set(client, writes);
  const key = `${name} ${digestOf(args)}`;
  const before = writes.get(key);
  if (before !== undefined) return before;
  const write = Promise.resolve(call(...args)).finally(() => {
    writes.delete(key);
  });
  writes.set(key, write);
  return write;
}
