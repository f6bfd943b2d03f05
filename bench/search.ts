import { largeCluster } from "@quartermaster/search/testing";

import type { BenchOptions, Row, Section } from "./table.ts";

const size = { dataNodes: 97, copies: 10_000 };

/** How long a look at a large cluster and the decision of all its lanes take, without a cluster: both are pure. */
export async function benchSearch({ isQuick }: BenchOptions): Promise<Section> {
  const rounds = isQuick ? 10 : 50;
  const cluster = await largeCluster(size);
  const observationMs: number[] = [];
  const decideMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now();
    // A new value each time: what lanes remember, they remember of one value.
    const seen = cluster.sample();
    const seenMs = performance.now();
    cluster.decide(seen);
    observationMs.push(seenMs - startMs);
    decideMs.push(performance.now() - seenMs);
  }
  const what = `${String(size.dataNodes + 3)} nodes × ${String(size.copies)} shards`;
  const rows: readonly Row[] = [
    { what: `all lanes and the status, ${what}`, measured: best(decideMs), bar: "≤ 10 ms" },
    {
      what: "the first time, before the code is compiled",
      measured: `${(decideMs[0] ?? Number.NaN).toFixed(1)} ms`,
    },
    {
      what: `building Seen from objects and the engine's answer, ${what}`,
      measured: best(observationMs),
      bar: "≤ 50 ms",
    },
    {
      what: "the first time, before the code is compiled ",
      measured: `${(observationMs[0] ?? Number.NaN).toFixed(1)} ms`,
    },
  ];
  return { title: `search, best of ${String(rounds)} rounds`, rows };
}

function best(timesMs: readonly number[]): string {
  return `${Math.min(...timesMs).toFixed(1)} ms`;
}
