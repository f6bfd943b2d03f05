import { createServer } from "node:http";

import type { InstallPlan } from "@quartermaster/api";
import { eventually, prometheusProgram, startPrometheus } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { dashboardFiles } from "../support/dashboard-files.ts";
import { allPages } from "../support/metrics-page.ts";

/** Those of engines need an engine: the campaign monitoring-stack asks them of a Prometheus that reads a real one. */
const ofEngines = new Set(["search-overview", "search-nodes", "search-traffic"]);
const queries = [...dashboardFiles()]
  .filter(([file]) => !ofEngines.has(file))
  .flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, targets }) =>
      // As Grafana does where everything is chosen.
      targets.map(({ expr }) => ({ panel: `${file}: ${title}`, expr: expr.replaceAll(/\$\w+/g, ".*") })),
    ),
  );

const responseSchema = z.object({ data: z.object({ result: z.array(z.unknown()) }) });
const program = prometheusProgram("prometheus");

/** The operator's page as its own registry writes it, with a plan in it. */
async function servePage(): Promise<AsyncDisposable & { readonly port: number }> {
  const counts = { total: 1, ready: 1, suspended: 0, inProgress: 0, failed: 0, missing: 0, drifted: 0 };
  const rest = { conflict: 0, terminating: 0, unknown: 0 };
  const plan = { metadata: { name: "shop" }, status: { phase: "Installed", counts: { ...counts, ...rest } } };
  const page = await allPages([plan as unknown as InstallPlan]);
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end(page);
  });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.listen(0, "127.0.0.1", () => {
    resolve(undefined);
  });
  await promise;
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<undefined>();
      server.close(() => {
        closed.resolve(undefined);
      });
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

describe.runIf(program !== undefined)(
  "dashboards of the operator in a real Prometheus (skipped where Debian's package cannot be had)",
  () => {
    test("every query returns data", async () => {
      await using page = await servePage();
      await using prometheus = await startPrometheus(program ?? "", {
        port: page.port,
        rules: JSON.stringify({ groups: [] }),
        labels: { namespace: "quartermaster", pod: "quartermaster-0" },
      });
      expect(queries.length).toBeGreaterThan(20);
      await eventually(
        async (see) => {
          const empty: string[] = [];
          for (const { panel, expr } of queries) {
            const path = `/api/v1/query?query=${encodeURIComponent(expr)}`;
            const output = await prometheus.until(path, (text) => text.startsWith('{"status":"success"'));
            if (responseSchema.parse(JSON.parse(output)).data.result.length === 0) empty.push(panel);
          }
          return see(empty).length === 0;
        },
        { withinMs: 30_000, everyMs: 1000 },
      );
    });
  },
);
