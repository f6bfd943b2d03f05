// A caller in a process of its own: posts 20 reviews to the address given, one after another, and prints the longest answer time.
import { Pool } from "undici";

const [, , address = ""] = process.argv;
const { origin, pathname: path } = new URL(address);
const pool = new Pool(origin, { connections: 1, connect: { rejectUnauthorized: false } });
const group = { group: "", version: "v1" };

let longestMs = 0;
for (let serial = 0; serial < 20; serial += 1) {
  const request = {
    uid: `review-${serial}`,
    kind: { ...group, kind: "ConfigMap" },
    resource: { ...group, resource: "configmaps" },
    operation: "CREATE",
  };
  const startMs = performance.now();
  const { statusCode, body } = await pool.request({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request }),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`answered with ${statusCode}`);
  if (serial > 0) longestMs = Math.max(longestMs, performance.now() - startMs);
  process.stdout.write(serial === 0 ? "begun\n" : "");
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
}
process.stdout.write(`${longestMs}\n`);
await pool.close();
