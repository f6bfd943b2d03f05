import { distributionFacts } from "../model/distribution-facts.ts";
import type { SearchCluster } from "../model/search-cluster.ts";

const typeKey = "plugins.security.audit.type";

/** The index of the audit log: one per day, made by the security plugin with one replica, however many nodes there are. */
export const auditIndex = {
  pattern: "security-auditlog-*",
  prefix: "security-auditlog-",
  template: "quartermaster-security-auditlog",
} as const;

/** Whether the author has the audit log written into an index of the cluster itself. */
export function hasAuditIndex({
  distribution,
  config,
  pools,
}: Pick<SearchCluster, "distribution" | "config" | "pools">): boolean {
  if (!distributionFacts[distribution].hasSecurityPlugin) return false;
  const types = [config, ...pools.map((pool) => pool.config)].map((settings) => settings[typeKey]);
  return types.includes("internal_opensearch");
}
