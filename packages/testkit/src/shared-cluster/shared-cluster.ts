import { ApiClient } from "@quartermaster/local-cluster";
import { inject } from "vitest";

import { AuditLog } from "../audit/audit-log.ts";

/** What a test must know of the run's control plane; plain values, because they cross a process border. */
export interface SharedClusterFacts {
  readonly admin: { readonly server: string; readonly caPem: string; readonly token: string };
  readonly kubeconfigPath: string;
  readonly auditLogPath: string;
}

/** The control plane that all integration tests of a run share. */
export interface SharedCluster extends SharedClusterFacts, Disposable {
  /** Speaks as the administrator, with a client that shares no code with what is under test. */
  readonly api: ApiClient;
  readonly audit: AuditLog;
}

/** Joins the run's control plane. Throws outside the integration level, where there is none. */
export function joinSharedCluster(): SharedCluster {
  const facts = inject("sharedCluster");
  const api = new ApiClient(facts.admin);
  return {
    ...facts,
    api,
    audit: new AuditLog(facts.auditLogPath, api),
    [Symbol.dispose]: () => api[Symbol.dispose](),
  };
}
