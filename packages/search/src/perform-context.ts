import type { Context, Live, ObjectRef } from "@quartermaster/runtime";

import type { SampleWindows } from "./autoscaling/sample-windows.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import { EngineError } from "./engine/engine-error.ts";
import type { LicenseAttempts } from "./license/license-attempts.ts";
import type { ClusterObject } from "./model/read-cluster.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import type { ActionOf, SearchAction } from "./search-action.ts";
import type { SearchObserver } from "./search-metrics.ts";
import type { HashRequest, PasswordHasher } from "./security-content/password-hasher.ts";
import type { Seen } from "./seen.ts";

/** Everything that writing needs besides the action and the observation; one for all clusters of a controller. */
export interface PerformDeps {
  readonly nowMs: () => number;
  readonly hasher: PasswordHasher;
  readonly attempts: LicenseAttempts;
  readonly windows: SampleWindows;
  /** Reads the cluster's own object, live; undefined when it does not exist. */
  readonly findCluster: (cluster: SearchCluster, ctx: Context) => Promise<Live<ClusterObject> | undefined>;
  readonly observer: SearchObserver;
  /** Requests a sample of the cluster's engine soon. */
  readonly resample: (uid: string) => void;
  /** Reconciles a cluster again, because something that it waits for is there. */
  readonly wake: (ref: ObjectRef) => void;
}

/** Context of action handlers: one reconcile, the observation that its rules decided by, and the ways to write. */
export interface PerformContext extends Pick<PerformDeps, "nowMs" | "attempts" | "windows" | "observer"> {
  readonly ctx: Context;
  readonly cluster: SearchCluster;
  /** Undefined while the cluster is being deleted. */
  readonly seen: Seen | undefined;
  /** Throws while no node has an address. */
  readonly engine: () => EngineClient;
  /** Requests a sample of the engine soon, because something was changed there. */
  readonly resample: () => void;
  /** The hash of a password once it is made, which reconciles the cluster again. */
  readonly hashOf: (request: Pick<HashRequest, "account" | "version" | "password">) => string | undefined;
  /** Reads the cluster's own object, live; undefined when it does not exist. */
  readonly findCluster: () => Promise<Live<ClusterObject> | undefined>;
}

/** Actions by their kind. */
export type ActionsByKind = { readonly [Kind in SearchAction["kind"]]: ActionOf<Kind> };

/** How actions of some kinds are carried out (default: of all kinds). */
export type ActionHandlers<Kinds extends SearchAction["kind"] = SearchAction["kind"]> = {
  readonly [Kind in Kinds]: (action: ActionsByKind[Kind], context: PerformContext) => Promise<void> | void;
};

/** The context of the actions of one reconcile; `observed` is what was seen of the cluster, or what is left of it. */
export function performContext(
  ctx: Context,
  observed: Seen | { readonly cluster: SearchCluster },
  deps: PerformDeps,
): PerformContext {
  const { cluster } = observed;
  const { namespace, name, uid } = cluster;
  const seen = "object" in observed ? observed : undefined;
  return {
    ...deps,
    ctx,
    cluster,
    seen,
    engine: () => seen?.engineClient ?? noEngine(),
    resample: () => {
      deps.resample(uid);
    },
    hashOf: (request) => {
      const onReady = (): void => {
        deps.wake({ namespace, name });
      };
      return deps.hasher.take({ ...request, account: `${uid}/${request.account}`, namespace, onReady });
    },
    findCluster: async () => await deps.findCluster(cluster, ctx),
  };
}

function noEngine(): never {
  throw new EngineError("No node has an address yet.", { code: "unreachable" });
}
