import { expect, test } from "vitest";

import { hasAuditIndex } from "../../src/security-content/security-handlers.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";

const type = "plugins.security.audit.type";

test.for([
  ["nothing is said", aSearchCluster(), false],
  ["an index of the cluster", aSearchCluster({ config: { [type]: "internal_opensearch" } }), true],
  [
    "in one pool only",
    aSearchCluster({ pools: [aPool(), aPool({ name: "b", config: { [type]: "internal_opensearch" } })] }),
    true,
  ],
  ["the log of the node", aSearchCluster({ config: { [type]: "log4j" } }), false],
  ["an index elsewhere", aSearchCluster({ config: { [type]: "external_opensearch" } }), false],
  [
    "Elasticsearch has no such plugin",
    aSearchCluster({ distribution: "elasticsearch", config: { [type]: "internal_opensearch" } }),
    false,
  ],
] as const)("the audit log is in an index of the cluster: %s", ([, cluster, want]) => {
  expect(hasAuditIndex(cluster)).toBe(want);
});
