import { setTimeout as sleep } from "node:timers/promises";

import { Pool } from "undici";

import { orders, say } from "./report.ts";
import { readSettings } from "./settings.ts";

// Calls the webhook as the API server would, on `go` or `go <reviews per second>`: `count` reviews (those of three seconds where a rate
// is given), each at its time whether or not the last was answered. On `decision` it says how one pod is answered. On `each` it requests
// a pod of each of the Bundles b0, b1, … up to `count`.
const { server, caPem, namespace, count } = readSettings();
const { origin, pathname } = new URL(server);
const pool = new Pool(origin, { connections: 16, allowH2: false, connect: { ca: caPem } });
const usualRate = 200;

/** A review of about 3 KB. */
function reviewOf(serial: number, bundles: string): string {
  const env = Array.from({ length: 40 }, (_, n) => ({
    name: `SETTING_${n}`,
    value: `value-${n}-of-${serial}`,
  }));
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${serial}`,
      namespace,
      labels: { app: "app" },
      // For the webhook of subscriptions; others do not look.
      annotations: { "subscription.openshift.io/inject-bundle": bundles },
    },
    spec: { containers: [{ name: "main", image: "registry.example.org/team/main:v1", env, resources: {} }] },
    status: {},
  };
  const request = {
    uid: `review-${serial}`,
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    namespace,
    operation: "CREATE",
    userInfo: { username: "bench", groups: ["system:authenticated"] },
    object,
  };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
}

async function responseTo(serial: number, bundles = "local,driver"): Promise<string> {
  const { statusCode, body } = await pool.request({
    method: "POST",
    path: `${pathname}?timeout=10s`,
    headers: { "content-type": "application/json" },
    body: reviewOf(serial, bundles),
  });
  const text = await body.text();
  if (statusCode !== 200 || !text.includes('"allowed":true')) throw new Error(`${statusCode} ${text}`);
  return text;
}

async function call(serial: number): Promise<number> {
  const startMs = performance.now();
  await responseTo(serial);
  return performance.now() - startMs;
}

/** Reviews at a steady rate. `tookMs` is the time until the last answer: a webhook that holds the rate takes no longer than the calls. */
async function lap(rate: number, reviews: number): Promise<void> {
  const calls: Promise<number>[] = [];
  const beginMs = performance.now();
  for (let serial = 0; serial < reviews; serial += 1) {
    const waitMs = beginMs + (serial * 1000) / rate - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    calls.push(call(serial));
  }
  const sorted = (await Promise.all(calls)).toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (reviews - 1))] ?? Number.NaN;
  const tookMs = performance.now() - beginMs;
  say("lap", { p50: at(0.5), p99: at(0.99), max: at(1), tookMs, plannedMs: (reviews * 1000) / rate });
}

async function requestEach(): Promise<void> {
  for (let serial = 0; serial < count; serial += 1) await responseTo(serial, `b${serial}`);
  say("each");
}

say("ready");
for await (const order of orders()) {
  const [message, rate] = order.split(" ");
  if (message === "decision") say("decision", { response: await responseTo(0) });
  else if (message === "each") await requestEach();
  else if (message !== "go") break;
  else if (rate === undefined) await lap(usualRate, count);
  else await lap(Number(rate), 3 * Number(rate));
}
