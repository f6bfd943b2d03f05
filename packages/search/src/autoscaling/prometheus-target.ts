import { stackPorts } from "../monitoring/prometheus-files.ts";
import type { Seen } from "../seen.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import type { PrometheusTarget } from "./ask-prometheus.ts";

/**
 * The cluster's own Prometheus: our Service, known by a certificate of the cluster's own authority. It holds figures of this cluster
 * alone, so a query cannot read those of others. Undefined while there is none.
 */
export function prometheusTarget({
  cluster,
  material,
  monitoring,
}: Pick<Seen, "cluster" | "material" | "monitoring">): PrometheusTarget | undefined {
  const { pair: authority } = material.authority;
  const { prometheusAddress: host } = monitoring;
  const isOwn = cluster.monitoring?.stack.mode === "Standalone";
  if (!isOwn || authority === undefined || host === undefined) return undefined;
  const name = monitoringNames(cluster).stack.prometheus;
  return {
    endpoint: { node: name, host, port: stackPorts.prometheus },
    tls: {
      caPem: authority.certificatePem,
      serverName: `${name}.${cluster.namespace}.svc`,
      client: undefined,
    },
  };
}
