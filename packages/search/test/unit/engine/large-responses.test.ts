import { realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { restEngine } from "../../../src/distributions/rest-engine.ts";
import type { EngineClient } from "../../../src/engine/engine-client.ts";
import { type Reply, startHostileEngine } from "../../support/hostile-engine.ts";

/** Parts of JSON with commas between them, about 7.6 MB: what the limit of 8 MiB lets through. */
function fill(part: (at: number) => string, size = 7_600_000): string {
  const parts: string[] = [];
  for (let at = 0, length = 0; length < size; at += 1) {
    parts.push(part(at));
    length += part(at).length + 1;
  }
  return parts.join(",");
}

const copy = (at: number): string =>
  `{"index":"i${String(at)}","shard":0,"primary":true,"state":"STARTED","node":"n"}`;
const table = (part: (at: number) => string, size?: number): string =>
  `{"_nodes":{"total":1,"failed":0},"cluster_name":"logs","nodes":{${fill(part, size)}}}`;

/** What an engine in the hands of a tenant says, and what becomes of it. */
const cases: readonly [string, (client: EngineClient) => Promise<unknown>, string, RegExp][] = [
  [
    "a shard table of 60,000 indices is read",
    async (client) => await client.shards(),
    `{"routing_table":{"indices":{${fill((at) => `"i${String(at)}":{"shards":{"0":[${copy(at)}]}}`)}}}}`,
    /^read$/,
  ],
  [
    "wrong copies are refused with the first",
    async (client) => await client.shards(),
    `{"routing_table":{"indices":{"i":{"shards":{"0":[${fill(() => "{}")}]}}}}}`,
    /index/,
  ],
  [
    "settings of indices are read",
    async (client) => await client.indices(),
    `{${fill((at) => `"i${String(at)}":{"settings":{"index":{"number_of_replicas":"1"}}}`)}}`,
    /^read$/,
  ],
  [
    "wrong statistics are refused with the first",
    async (client) => await client.nodeLoad(),
    table((at) => `"${String(at)}":{}`),
    /name/,
  ],
  [
    "nodes are refused unread",
    async (client) => await client.nodes(),
    table((at) => `"${String(at)}":{}`),
    /exceeds/,
  ],
  [
    "wrong nodes within the limit are refused with the first",
    async (client) => await client.nodes(),
    table((at) => `"${String(at)}":{}`, 1_000_000),
    /name/,
  ],
  [
    "settings are refused unread",
    async (client) => await client.settings(),
    `{"persistent":{${fill((at) => `"a.${String(at)}":"1"`)}},"transient":{}}`,
    /exceeds/,
  ],
];

function sends(text: string): Reply {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(text);
  };
}

async function endOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "read";
  } catch (error) {
    return String(error);
  }
}

describe("[security/113] answers of 7.6 MB hold nothing up", () => {
  test.for(cases)("%s", async ([, request, text, problem]) => {
    await using engine = await startHostileEngine();
    engine.response = sends(text);
    const client = restEngine({ system: realSystem() })(engine.target);
    const begun = performance.now();
    const end = await endOf(request(client));
    const tookMs = performance.now() - begun;
    await client.close();
    expect(end).toMatch(problem);
    // Alone on two cores all of it takes 0.6 s at most, and what reads the text half of that.
    expect(tookMs).toBeLessThan(5_000);
  });
});
