import { setTimeout as sleep } from "node:timers/promises";

import { Pool } from "undici";

import { orders, say } from "./report.ts";
import { readSettings } from "./settings.ts";

// Calls the webhook as the API server would: `count` reviews, one every 5 ms whether or not the last was answered.
const { server, caPem, namespace, count } = readSettings();
const pool = new Pool(server, { connections: 16, allowH2: false, connect: { ca: caPem } });
const everyMs = 5;

/** A review of about 3 KB. */
function reviewOf(serial: number): string {
  const env = Array.from({ length: 40 }, (_, n) => ({
    name: `SETTING_${n}`,
    value: `value-${n}-of-${serial}`,
  }));
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${serial}`, namespace, labels: { app: "app" } },
    spec: { containers: [{ name: "main", image: "registry.example.org/team/main:v1", env }] },
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

async function call(serial: number): Promise<number> {
  const startMs = performance.now();
  const { statusCode, body } = await pool.request({
    method: "POST",
    path: "/pods?timeout=10s",
    headers: { "content-type": "application/json" },
    body: reviewOf(serial),
  });
  const text = await body.text();
  if (statusCode !== 200 || !text.includes('"allowed":true')) throw new Error(`${statusCode} ${text}`);
  return performance.now() - startMs;
}

say("ready");
for await (const order of orders()) {
  if (order !== "go") break;
  const calls: Promise<number>[] = [];
  const beginMs = performance.now();
  for (let serial = 0; serial < count; serial += 1) {
    const waitMs = beginMs + serial * everyMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    calls.push(call(serial));
  }
  const sorted = (await Promise.all(calls)).toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (count - 1))] ?? Number.NaN;
  say("lap", { p50: at(0.5), p99: at(0.99), max: at(1) });
}
