import { Counter, Histogram, type Registry } from "prom-client";

import type { Observation } from "../transport/transport.ts";
import { requestBuckets, sizeBytesBuckets } from "./metric-buckets.ts";

/** The series `rest_client_*`; the result is for the transport's `observe`. */
export function requestMetrics(registry: Registry): (observation: Observation) => void {
  const registers = [registry];
  const labelNames = ["verb", "host"] as const;
  const histogram = (name: string, help: string, buckets: number[]): Histogram<"verb" | "host"> =>
    new Histogram({ name: `rest_client_${name}`, help, labelNames, buckets, registers });
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labelNames: ["code", "method", "host"],
    registers,
  });
  const duration = histogram("request_duration_seconds", "Request latency in seconds.", requestBuckets);
  const sent = histogram("request_size_bytes", "Request size in bytes.", sizeBytesBuckets);
  const received = histogram("response_size_bytes", "Response size in bytes.", sizeBytesBuckets);
  silentSeries(registry);
  return ({ method, verb, host, code, durationMs, requestBytes, responseBytes }) => {
    // Go's client counts by the HTTP method and measures by the same word.
    const labels = { verb: verbOf(verb, method), host };
    requests.inc({ code, method, host });
    duration.observe(labels, durationMs / 1_000);
    sent.observe(labels, requestBytes);
    received.observe(labels, responseBytes);
  };
}

function verbOf(verb: string, method: string): string {
  return verb === "" ? method : method.toUpperCase();
}

/** There is no client-side rate limiter, and the transport does not tell repeats apart: the names exist, at nothing. */
function silentSeries(registry: Registry): void {
  const registers = [registry];
  const help = "Client side rate limiter latency in seconds.";
  const limiter = {
    name: "rest_client_rate_limiter_duration_seconds",
    help,
    buckets: requestBuckets,
    registers,
  };
  const retries = "Number of request retries, partitioned by status code, verb, and host.";
  new Histogram({ ...limiter, labelNames: ["verb", "host"] });
  new Counter({
    name: "rest_client_request_retries_total",
    help: retries,
    labelNames: ["code", "verb", "host"],
    registers,
  });
}
