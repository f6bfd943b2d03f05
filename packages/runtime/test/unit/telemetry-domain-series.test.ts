import { expect, test } from "vitest";

import { createMetrics } from "../../src/telemetry/metrics.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

const metricsOf = (): ReturnType<typeof createMetrics> =>
  createMetrics({ system: new VirtualSystem(), processMetrics: false });

async function linesOf(
  { render }: Pick<ReturnType<typeof createMetrics>, "render">,
  name: string,
): Promise<readonly string[]> {
  return (await render()).split("\n").filter((line) => line.startsWith(name));
}

test("a counter of a domain has every value from the start", async () => {
  const metrics = metricsOf();
  const count = metrics.series.counter({ name: "meals", help: "h", label: "dish", values: ["soup", "fish"] });
  count("fish");
  count("fish");
  expect(await linesOf(metrics, "meals")).toEqual(['meals{dish="soup"} 0', 'meals{dish="fish"} 2']);
});

test("a gauge of a domain is read whenever the page is requested, and what is not told is 0", async () => {
  const metrics = metricsOf();
  let guests = new Map<"in" | "out", number>([["in", 3]]);
  metrics.series.gauge({ name: "guests", help: "h", label: "place", values: ["in", "out"] }, () => guests);
  expect(await linesOf(metrics, "guests")).toEqual(['guests{place="in"} 3', 'guests{place="out"} 0']);
  guests = new Map([["out", 3]]);
  expect(await linesOf(metrics, "guests")).toEqual(['guests{place="in"} 0', 'guests{place="out"} 3']);
});

test("a histogram of a domain takes seconds", async () => {
  const metrics = metricsOf();
  metrics.series.histogram({ name: "wait", help: "h", buckets: [1, 10] })(2.5);
  expect(await linesOf(metrics, "wait")).toEqual([
    'wait_bucket{le="1"} 0',
    'wait_bucket{le="10"} 1',
    'wait_bucket{le="+Inf"} 1',
    "wait_sum 2.5",
    "wait_count 1",
  ]);
});

test("a counter has every combination of its labels from the start", async () => {
  const metrics = metricsOf();
  const labels = { dish: ["soup", "fish"], result: ["served", "burnt"] } as const;
  const count = metrics.series.counter({ name: "plates", help: "h", labels });
  count({ dish: "fish", result: "burnt" });
  count({ dish: "fish", result: "burnt" }, 2);
  expect(await linesOf(metrics, "plates")).toEqual([
    'plates{dish="soup",result="served"} 0',
    'plates{dish="soup",result="burnt"} 0',
    'plates{dish="fish",result="served"} 0',
    'plates{dish="fish",result="burnt"} 3',
  ]);
});

test("a hostile label value cannot grow the series", async () => {
  const metrics = metricsOf();
  const labels = { tenant: { atMost: 2 }, result: ["yes", "no"] } as const;
  const count = metrics.series.counter({ name: "asked", help: "h", labels });
  const time = metrics.series.histogram({ name: "took", help: "h", labels, buckets: [1] });
  for (let at = 0; at < 5_000; at += 1) {
    count({ tenant: `tenant-${at}`, result: "yes" });
    count({ tenant: "x".repeat(1_000 + at), result: `made-up-${at}` as "yes" });
    time(0.5, { tenant: `tenant-${at}`, result: `made-up-${at}` as "yes" });
  }
  expect(await linesOf(metrics, "asked")).toEqual([
    'asked{tenant="tenant-0",result="yes"} 1',
    'asked{tenant="other",result="other"} 5000',
    'asked{tenant="tenant-1",result="yes"} 1',
    'asked{tenant="other",result="yes"} 4998',
  ]);
  expect(await linesOf(metrics, "took_count")).toHaveLength(3);
});

test("a label value cannot break out of its quotes", async () => {
  const metrics = metricsOf();
  const count = metrics.series.counter({ name: "said", help: "h", labels: { text: { atMost: 1 } } });
  count({ text: 'a"} 1\nforged{b="c' });
  expect(await linesOf(metrics, "said")).toEqual(['said{text="a\\"} 1\\nforged{b=\\"c"} 1']);
  expect(await linesOf(metrics, "forged")).toEqual([]);
});

test("a gauge of several labels drops what is no longer there, and adds up what is beyond its limit", async () => {
  const metrics = metricsOf();
  let clusters = ["a", "b", "c", "d"];
  const labels = { cluster: { atMost: 2 }, role: ["data"] } as const;
  metrics.series.gauge({ name: "nodes", help: "h", labels }, () =>
    clusters.map((cluster) => ({ labels: { cluster, role: "data" as const }, value: 3 })),
  );
  expect(await linesOf(metrics, "nodes")).toEqual([
    'nodes{cluster="a",role="data"} 3',
    'nodes{cluster="b",role="data"} 3',
    'nodes{cluster="other",role="data"} 6',
  ]);
  clusters = ["c", "d"];
  expect(await linesOf(metrics, "nodes")).toEqual([
    'nodes{cluster="c",role="data"} 3',
    'nodes{cluster="d",role="data"} 3',
  ]);
});

test("labels that allow too many series together are refused when they are declared", () => {
  const labels = { one: { atMost: 100 }, two: { atMost: 100 } };
  expect(() => metricsOf().series.counter({ name: "many", help: "h", labels })).toThrow(
    /one, two allow 10201/,
  );
});
