import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { prometheusProgram, startPrometheus } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { scrapeConfigs } from "../../src/monitoring/prometheus-files.ts";
import { aMonitoring, aSearchCluster } from "../a-search-cluster.ts";

/** Each drops what says whose a series is; the exporter's own labels would take its place. */
const dropping = [
  { action: "labeldrop", regex: "namespace" },
  { action: "labeldrop", regex: "(cluster|exported_.*)" },
  { action: "labelkeep", regex: "__.*|job|instance" },
];
const monitoring = aMonitoring({ relabelings: dropping, metricRelabelings: dropping });
const cluster = aSearchCluster({ name: "logs", namespace: "tenant", monitoring });

/** An exporter in a tenant's hands. */
async function hostileExporter(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end('search_health_status{namespace="victim",cluster="victim"} 2\n');
  });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.listen(0, "127.0.0.1", () => {
    resolve(undefined);
  });
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Reply {
  readonly data: { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] };
}

const program = prometheusProgram("prometheus");

describe("[security/110] rules of an author cannot take the namespace or the cluster from a series", () => {
  test.skipIf(program === undefined)(
    "a real Prometheus stores the series of a hostile exporter under its own namespace and cluster (skipped where Debian's package prometheus cannot be had)",
    { timeout: 120_000 },
    async () => {
      await using exporter = await hostileExporter();
      const [{ relabel_configs, metric_relabel_configs } = {}] = scrapeConfigs(
        cluster,
        monitoring,
      ) as readonly {
        readonly relabel_configs?: object;
        readonly metric_relabel_configs?: object;
      }[];
      await using prometheus = await startPrometheus(program ?? "", {
        port: exporter.port,
        rules: JSON.stringify({ groups: [] }),
        labels: { namespace: "tenant" },
        scrape: { relabel_configs, metric_relabel_configs },
      });
      const labelsOf = async (query: string): Promise<readonly Readonly<Record<string, string>>[]> => {
        const output = await prometheus.until(`/api/v1/query?query=${query}`, (text) =>
          text.includes('"metric"'),
        );
        return (JSON.parse(output) as Reply).data.result.map(({ metric }) => metric);
      };
      expect(await labelsOf("search_health_status")).toEqual([
        expect.objectContaining({ namespace: "tenant", cluster: "logs" }),
      ]);
      expect(await labelsOf("up")).toEqual([expect.objectContaining({ namespace: "tenant" })]);
    },
  );
});
