import { Counter, Histogram, type Registry } from "prom-client";

import type { Observation, Retry } from "../transport/transport.ts";
import { requestBuckets, sizeBytesBuckets } from "./request-buckets.ts";

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
  registry.registerMetric(silentLimiter());
  return ({ method, host, code, durationMs, requestBytes, responseBytes }) => {
    // What Go's client calls the verb is the method; ours, such as list, would give other series.
    const labels = { verb: method, host };
    requests.inc({ code, method, host });
    duration.observe(labels, durationMs / 1_000);
    sent.observe(labels, requestBytes);
    received.observe(labels, responseBytes);
  };
}

/** There is no client-side rate limiter: the name exists for dashboards, at nothing. */
function silentLimiter(): Histogram<"verb" | "host"> {
  return new Histogram({
    name: "rest_client_rate_limiter_duration_seconds",
    help: "Client side rate limiter latency in seconds.",
    labelNames: ["verb", "host"],
    buckets: requestBuckets,
    registers: [],
  });
}

/** The series of repeated requests; the result is for the transport's `observeRetry`. */
export function retryMetrics(registry: Registry): (retry: Retry) => void {
  const retries = new Counter({
    name: "rest_client_request_retries_total",
    help: "Number of request retries, partitioned by status code, verb, and host.",
    labelNames: ["code", "verb", "host"],
    registers: [registry],
  });
  return ({ code, method, host }) => {
    retries.inc({ code, verb: method, host });
  };
}
