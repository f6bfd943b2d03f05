import { elasticsearchCluster, openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import type { Domain } from "@quartermaster/runtime";

import { queryPrometheus } from "./autoscaling/query-prometheus.ts";
import { restEngine } from "./distributions/rest-engine.ts";
import type { ConnectEngine } from "./engine/engine-client.ts";
import { proxyDial, type ProxyAddress } from "./engine/proxy-dial.ts";
import { searchController } from "./search-controller.ts";
import { searchMetrics } from "./search-metrics.ts";
import { searchPermissions } from "./search-permissions.ts";
import { PasswordHasher } from "./security-content/password-hasher.ts";
import { officialHosts } from "./workload/workload-issues.ts";

/** Options of the domain for an operator. */
export interface SearchDomainOptions {
  /** How engines are reached (default: by REST, at the addresses of their pods). */
  readonly connect?: ConnectEngine | undefined;
  /** Proxy through which the default way reaches pods (default: none, they are dialled). */
  readonly engineProxy?: ProxyAddress | undefined;
  /** Hosts that plugins may come from. */
  readonly pluginHosts?: readonly string[] | undefined;
  /** Hosts that snapshot repositories may lead engines to (default: object stores; none for type url). */
  readonly snapshotHosts?: readonly string[] | undefined;
  /** Image of the exporter for clusters that name none (default: the one that `make image` writes). */
  readonly exporterImage?: string | undefined;
  /** Domain of Services, for names in certificates (default: cluster.local). */
  readonly clusterDomain?: string | undefined;
  /** Where the operator runs, for NetworkPolicies that let it in (default: outside of the cluster). */
  readonly operatorNamespace?: string | undefined;
}

/**
 * Search clusters as a part of an operator: OpenSearchCluster in both groups and ElasticsearchCluster.
 *
 * @example
 * await run({ name: "quartermaster", domains: [searchDomain()] });
 */
export function searchDomain({
  connect,
  engineProxy,
  pluginHosts = officialHosts,
  snapshotHosts,
  exporterImage,
  operatorNamespace,
  clusterDomain,
}: SearchDomainOptions = {}): Domain {
  return {
    name: "search",
    grantedBy: "config/rbac-limited/optional/search.yaml",
    permissions: searchPermissions,
    controllers: ({ system, concurrency, namespace, log, series }) => {
      const dial = engineProxy === undefined ? undefined : proxyDial(engineProxy);
      const observer = searchMetrics(series);
      const reach = connect ?? restEngine({ system, onRequest: observer.engineCalled, dial });
      const request = queryPrometheus({ system, dial });
      const hasher = new PasswordHasher({ system });
      return [openSearchCluster.kind, opsterOpenSearchCluster.kind, elasticsearchCluster.kind].map((kind) =>
        searchController({
          kind,
          connect: reach,
          request,
          observer,
          system,
          log,
          concurrency,
          policy: { pluginHosts, snapshotHosts, exporterImage, operatorNamespace, clusterDomain },
          hasher,
          namespace,
        }),
      );
    },
  };
}
