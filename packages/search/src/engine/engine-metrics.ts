import type { DomainSeries } from "@quartermaster/runtime";

import { type EngineCall, engineCalls } from "./engine-client.ts";
import { type EngineErrorCode, engineErrorCodes } from "./engine-error.ts";

/** Registers the series of calls to engines. Returns the hook for `restEngine`. */
export function engineMetrics(
  series: DomainSeries,
): (call: EngineCall, result: "ok" | EngineErrorCode) => void {
  const count = series.counter({
    name: "quartermaster_search_engine_requests_total",
    help: "Requests to search engines by call and result",
    labels: { call: engineCalls, result: ["ok", ...engineErrorCodes] },
  });
  return (call, result) => {
    count({ call, result });
  };
}
