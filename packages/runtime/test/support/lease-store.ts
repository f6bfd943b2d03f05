import type { Client } from "../../src/client/client.ts";
import { ApiError } from "../../src/errors.ts";
import type { Lease } from "../../src/leader/lease.ts";

export type LeaseClient = Pick<Client, "find" | "create" | "replace">;

/** One lease as an API server keeps it: writes are taken only by the current resourceVersion. */
export class LeaseStore {
  lease: Lease | undefined;
  /** Requests fail before they get here. */
  isUnreachable = false;
  writes = 0;

  read(): Lease | undefined {
    if (this.isUnreachable) throw failure("transient", false);
    return this.lease;
  }

  create(lease: Lease): Lease {
    if (this.isUnreachable) throw failure("transient", false);
    if (this.lease !== undefined) throw failure("alreadyExists", false);
    return this.#keep({ ...lease, metadata: { ...lease.metadata, uid: `uid-${this.writes}` } });
  }

  replace(lease: Lease): Lease {
    if (this.isUnreachable) throw failure("transient", false);
    if (this.lease === undefined) throw failure("notFound", false);
    if (this.lease.metadata.resourceVersion !== lease.metadata.resourceVersion)
      throw failure("conflict", false);
    return this.#keep(lease);
  }

  /** The store behind a client's methods. */
  client(): LeaseClient {
    return {
      find: async () => (await Promise.resolve(this.read())) as never,
      create: async (_kind, object) => (await Promise.resolve(this.create(object as Lease))) as never,
      replace: async (_kind, object) => (await Promise.resolve(this.replace(object as Lease))) as never,
    };
  }

  #keep(lease: Lease): Lease {
    this.writes += 1;
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(this.writes) } };
    return this.lease;
  }
}

/** An error as the client throws it. */
export function failure(errorClass: ApiError["class"], mayHaveActed: boolean): ApiError {
  return new ApiError(`injected: ${errorClass}`, { class: errorClass, mayHaveActed });
}
