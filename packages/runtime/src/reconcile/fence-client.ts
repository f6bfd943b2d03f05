import { type Adjustment, adjustClient } from "../client/adjust-client.ts";
import type { CallOptions, Client } from "../client/client.ts";

/** What fences a client in. */
export interface Fence extends Pick<Adjustment, "onWritten"> {
  /** Once it aborts, running calls end and new ones are refused before anything is sent. */
  readonly signal: AbortSignal;
}

/**
 * A client that ends with its pass: nothing is written after the deadline, after leadership was lost or after the manager
 * announced its end, even by code that ignores its signal.
 */
export function fenceClient(client: Client, { signal, onWritten }: Fence): Client {
  const within = <T extends CallOptions>(options: T): T => {
    signal.throwIfAborted();
    const { signal: own } = options;
    return { ...options, signal: own === undefined ? signal : AbortSignal.any([own, signal]) };
  };
  return adjustClient(client, {
    reading: within,
    writing: within,
    ...(onWritten === undefined ? {} : { onWritten }),
  });
}
