import { expect, test } from "vitest";

import { readFacts } from "../../../src/engine/read-facts.ts";

const node = {
  name: "logs-data-0",
  indices: { docs: { count: 7 }, store: { size_in_bytes: 70 }, shards: { orders: [{}, {}] } },
  fs: { total: { total_in_bytes: 1000, available_in_bytes: 400 } },
  jvm: { mem: { heap_used_percent: 30 } },
  process: { cpu: { percent: 12 } },
};

function loadOf(more: object): unknown {
  const response = { _nodes: { total: 1, failed: 0 }, nodes: { id: { ...node, ...more } } };
  return readFacts.nodeLoad(response)[0];
}

test("queues and rejections are those of the node's threads", () => {
  const threads = { thread_pool: { search: { queue: 3 }, write: { rejected: 11 } } };
  expect(loadOf(threads)).toMatchObject({ shards: 2, cpuPercent: 12, searchQueue: 3, writeRejections: 11 });
});

test("a node that does not tell them is still known for the rest", () => {
  expect(loadOf({})).toMatchObject({ documents: 7, searchQueue: undefined, writeRejections: undefined });
  expect(loadOf({ thread_pool: { search: { queue: 1 } } })).toMatchObject({
    searchQueue: 1,
    writeRejections: undefined,
  });
});

test("a node that cannot tell how busy it is, is not taken for idle", () => {
  expect(loadOf({ process: { cpu: { percent: -1 } } })).toMatchObject({ cpuPercent: undefined, shards: 2 });
});
