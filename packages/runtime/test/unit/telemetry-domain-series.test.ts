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

test("a gauge of a domain is read whenever the page is asked for, and what is not told is 0", async () => {
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
