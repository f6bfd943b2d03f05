import type { Manager } from "@quartermaster/runtime";

import { pods } from "./kinds.ts";
import { orders, say } from "./report.ts";

export interface ResyncOptions {
  readonly manager: Pick<Manager, "informers">;
  readonly namespace: string;
  readonly count: number;
}

/** On `resync` it fills a store of all pods of the namespace again and again, until `rest`; answers how often it has been full. */
export async function followResyncOrders({ manager, namespace, count }: ResyncOptions): Promise<void> {
  let resyncs = 0;
  const resync = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await using handle = manager.informers.acquire({ kind: pods, namespace });
      await handle.synced;
      if (handle.store.size !== count) throw new Error(`${handle.store.size} objects instead of ${count}`);
      resyncs += 1;
    }
  };
  let resting = new AbortController();
  let running = Promise.resolve();
  for await (const order of orders()) {
    if (order === "resync") {
      resting = new AbortController();
      running = resync(resting.signal);
    } else {
      resting.abort();
      await running;
    }
    say("done", { resyncs });
  }
}
