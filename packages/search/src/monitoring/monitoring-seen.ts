import type { Live } from "@quartermaster/runtime";
import type { Deployment } from "@quartermaster/runtime/kinds";

import type { PresentObject } from "../present-object.ts";
import type { MonitoringKind } from "./monitoring-kinds.ts";

/** What is there of a cluster's monitoring. */
export interface MonitoringSeen {
  /** Kinds of others that the API server serves. */
  readonly served: ReadonlySet<MonitoringKind>;
  /** Everything of it that is ours, whether it is wanted or not. */
  readonly present: readonly PresentObject[];
  /** Address of the Service in front of our own Prometheus; undefined while there is none. */
  readonly prometheusAddress: string | undefined;
  /** Our Deployments by name. */
  readonly deployments: ReadonlyMap<string, Live<Deployment>>;
  /** Secrets that the spec names for it and that are not there, or lack a key. */
  readonly missing: readonly string[];
  /** Versions of those that are there: pods read them when they start. */
  readonly followed: Readonly<Record<string, string>>;
}

/** Nothing is there. */
export const NO_MONITORING: MonitoringSeen = {
  served: new Set(),
  present: [],
  prometheusAddress: undefined,
  deployments: new Map(),
  missing: [],
  followed: {},
};
