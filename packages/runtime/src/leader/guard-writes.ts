import { adjustClient } from "../client/adjust-client.ts";
import type { CallOptions, Client } from "../client/client.ts";
import { ApiError } from "../errors.ts";
import type { FencedElector } from "./lease-elector.ts";

/**
 * A client whose writes are sent only while the lease is held. Checks with the elector at the very moment of sending: after a blocked
 * event loop this is right before any timer has fired. A write also ends with the lease that allowed it, because the server
 * could otherwise act on it when another client leads. Reads go through.
 */
export function guardWrites(client: Client, elector: Pick<FencedElector, "writeBudgetMs">): Client {
  const writing = <T extends CallOptions>(options: T): T => {
    const budgetMs = elector.writeBudgetMs();
    if (budgetMs <= 0) throw notLeading();
    return { ...options, timeoutMs: Math.min(options.timeoutMs ?? defaultTimeoutMs, budgetMs) };
  };
  return adjustClient(client, { writing });
}

/** The client's own. */
const defaultTimeoutMs = 30_000;

/** As if the caller had given up: nothing was sent, and the next reconcile is the new holder's. */
function notLeading(): ApiError {
  return new ApiError("not sent: the lease is not held", { class: "aborted", mayHaveActed: false });
}
