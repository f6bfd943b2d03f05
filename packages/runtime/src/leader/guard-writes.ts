import type { CallOptions, Client } from "../client/client.ts";
import { ApiError } from "../errors.ts";
import type { FencedElector } from "./lease-elector.ts";

/**
 * A client whose writes leave only while the lease is held. Asks the elector at the very moment of sending: after a blocked
 * event loop this is right before any timer has fired. A write also ends with the lease that allowed it, because the server
 * could otherwise act on it when somebody else leads. Reads go through.
 */
export function guardWrites(client: Client, elector: Pick<FencedElector, "writeBudgetMs">): Client {
  const within = <T extends CallOptions>(options: T): T => {
    const budgetMs = elector.writeBudgetMs();
    if (budgetMs <= 0) throw notLeading();
    return { ...options, timeoutMs: Math.min(options.timeoutMs ?? defaultTimeoutMs, budgetMs) };
  };
  return {
    get: async (kind, ref, options) => await client.get(kind, ref, options),
    find: async (kind, ref, options) => await client.find(kind, ref, options),
    list: (kind, options) => client.list(kind, options),
    listPage: async (kind, options) => await client.listPage(kind, options),
    getSubresource: async (kind, ref, options) => await client.getSubresource(kind, ref, options),
    create: async (kind, object, options = {}) => await client.create(kind, object, within(options)),
    apply: async (kind, object, options) => await client.apply(kind, object, within(options)),
    patch: async (kind, ref, options) => await client.patch(kind, ref, within(options)),
    replace: async (kind, object, options = {}) => await client.replace(kind, object, within(options)),
    delete: async (kind, ref, options = {}) => {
      await client.delete(kind, ref, within(options));
    },
    createSubresource: async (kind, ref, options) =>
      await client.createSubresource(kind, ref, within(options)),
    raw: async (request) => await client.raw(request.method === "GET" ? request : within(request)),
    as: (identity) => guardWrites(client.as(identity), elector),
  };
}

/** The client's own. */
const defaultTimeoutMs = 30_000;

/** As if the caller had given up: nothing was sent, and the next pass is the new holder's. */
function notLeading(): ApiError {
  return new ApiError("not sent: the lease is not held", { class: "aborted", mayHaveActed: false });
}
