import { Agent, request } from "undici";

import { say, timed } from "./report.ts";
import { readSettings } from "./settings.ts";

const { server, caPem, token, namespace, plural, count } = readSettings();
const dispatcher = new Agent({ allowH2: false, connect: { ca: caPem } });
const base = plural === "pods" ? "/api/v1" : "/apis/bench.example.org/v1";
const kept: unknown[] = [];

const lap = await timed(async () => {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  const { body } = await request(`${server}${base}/namespaces/${namespace}/${plural}`, {
    dispatcher,
    headers,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bare list checks as little as it can
  const list = JSON.parse(await body.text()) as { readonly items: readonly unknown[] };
  kept.push(list);
  if (list.items.length !== count) throw new Error(`${list.items.length} objects instead of ${count}`);
});
say("lap", lap);
setInterval(() => kept.length, 1e6);
