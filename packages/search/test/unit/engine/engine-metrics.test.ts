import { createMetrics, realSystem } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { searchMetrics } from "../../../src/search-metrics.ts";

test("requests to engines are counted by call and result, from zero", async () => {
  const metrics = createMetrics({ system: realSystem(), processMetrics: false });
  const { engineCalled: count } = searchMetrics(metrics.series);
  count("health", "ok");
  count("health", "ok");
  count("putEntity", "conflict");
  const page = await metrics.render();
  expect(page).toContain('quartermaster_search_engine_requests_total{call="health",result="ok"} 2');
  expect(page).toContain('quartermaster_search_engine_requests_total{call="putEntity",result="conflict"} 1');
  expect(page).toContain('quartermaster_search_engine_requests_total{call="shards",result="timeout"} 0');
});
