import { type Adjustment, adjustClient } from "../client/adjust-client.ts";
import type { CallOptions, Client } from "../client/client.ts";
import type { Scope } from "./deadline.ts";

/** What fences a client in. */
export interface Fence extends Pick<Adjustment, "onWritten"> {
  /** Once it is over, running calls end and new ones are refused before anything is sent. */
  readonly scope: Scope;
}

/**
 * A client that ends with its reconcile: nothing is written after the deadline, after leadership was lost or after the manager
 * announced its end, even by code that ignores its signal.
 */
export function fenceClient(client: Client, { scope, onWritten }: Fence): Client {
  const within = <T extends CallOptions>(options: T): T => {
    scope.throwIfOver();
    const { signal } = options;
    return {
      ...options,
      signal: signal === undefined ? scope.signal : AbortSignal.any([signal, scope.signal]),
    };
  };
  return adjustClient(client, {
    reading: within,
    writing: within,
    ...(onWritten === undefined ? {} : { onWritten }),
  });
}
