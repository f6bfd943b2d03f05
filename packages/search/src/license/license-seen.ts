import type { DesiredLicense } from "@quartermaster/license-selection";
import type { JsonObject, Why } from "@quartermaster/runtime";

import type { EngineLicense } from "../engine/engine-facts.ts";

/** What is declared about the licence of an Elasticsearch cluster, and what came of the last attempt to apply it. */
export interface LicenseSeen {
  /** Name of the ClusterLicense that counts for the cluster, readable or not; undefined where there is none. */
  readonly clusterLicense: string | undefined;
  /** The licence to run under; undefined where nobody asks for one, or it cannot be read. */
  readonly wanted: WantedLicense | undefined;
  /** Why the licence that is asked for cannot be read. */
  readonly fault: Why | undefined;
  /** The label of the cluster. */
  readonly desired: DesiredLicense | undefined;
  readonly allowsDowngrade: boolean;
  readonly revertsToBasic: boolean;
  /** In this process; lost with it, which costs one more attempt. */
  readonly attempt: LicenseAttempt | undefined;
  /** Nodes that the licence of the pool has room for; undefined where nothing enforces that. */
  readonly grantedNodes: number | undefined;
}

/** Nobody asks for anything. */
export const NO_LICENSE: LicenseSeen = {
  clusterLicense: undefined,
  wanted: undefined,
  fault: undefined,
  desired: undefined,
  allowsDowngrade: false,
  revertsToBasic: false,
  attempt: undefined,
  grantedNodes: undefined,
};

/** A licence that can be sent. */
export interface WantedLicense {
  /** Name of its ClusterLicense. */
  readonly name: string;
  readonly uid: string;
  readonly type: string;
  readonly startMs: number;
  readonly expiryMs: number;
  /** Of the file, the version of the engine and its TLS: with another one a refusal counts no more. */
  readonly digest: string;
  /** As the engine takes it, with the signature. */
  readonly file: JsonObject;
}

/** What the engine made of a licence. */
export interface LicenseResult {
  readonly uid: string;
  readonly digest: string;
  /** `failed`: nothing is known of the licence itself, and it is tried again. */
  readonly outcome: "applied" | "rejected" | "failed";
  readonly reason: string;
  readonly message: string;
  /** What ran after it, where the engine said so. */
  readonly current: EngineLicense | undefined;
}

/** The same with its moments. */
export interface LicenseAttempt extends LicenseResult {
  readonly wallMs: number;
  readonly monotonicMs: number;
}
