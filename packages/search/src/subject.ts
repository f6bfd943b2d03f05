import type { Context, Live } from "@quartermaster/runtime";

import type { EngineClient } from "./engine/engine-client.ts";
import type { ClusterObject } from "./model/read-cluster.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import type { HashRequest } from "./security-content/password-hasher.ts";
import type { Seen } from "./seen.ts";

/** What a reconcile found out before it writes. */
export interface Subject {
  /** Undefined while the cluster is being deleted. */
  readonly seen: Seen | undefined;
  readonly cluster: SearchCluster;
  readonly ctx: Context;
  /** Throws while no node has an address. */
  readonly engine: () => EngineClient;
  /** Asks for a sample of the engine soon, because something was changed there. */
  readonly lookAgain: () => void;
  readonly nowMs: () => number;
  /** The hash of a password once it is made, which brings the cluster back. */
  readonly hashOf: (request: Pick<HashRequest, "account" | "version" | "password">) => string | undefined;
  /** Reads the cluster's own object, live; undefined when it is gone. */
  readonly findCluster: () => Promise<Live<ClusterObject> | undefined>;
}
