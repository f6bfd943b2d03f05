import { describe, expect, test } from "vitest";

import { collectWhenIdle, isCollectionDue } from "../../src/run/idle-collection.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

const mib = 1024 * 1024;

describe("when memory is given back", () => {
  test.each([
    {
      what: "quiet, never collected",
      utilization: 0.01,
      residentMib: 100,
      afterLastMib: undefined,
      due: true,
    },
    { what: "busy", utilization: 0.05, residentMib: 300, afterLastMib: undefined, due: false },
    { what: "quiet, grown", utilization: 0.01, residentMib: 116, afterLastMib: 100, due: true },
    { what: "quiet, hardly grown", utilization: 0.01, residentMib: 115, afterLastMib: 100, due: false },
    { what: "quiet, smaller", utilization: 0.01, residentMib: 90, afterLastMib: 100, due: false },
  ])("$what: $due", ({ utilization, residentMib, afterLastMib, due }) => {
    const afterLastBytes = afterLastMib === undefined ? undefined : afterLastMib * mib;
    expect(isCollectionDue({ utilization, residentBytes: residentMib * mib, afterLastBytes })).toBe(due);
  });

  test("once after a burst, never while nothing happens or another client works", async () => {
    const system = new VirtualSystem();
    const seen = { collections: 0, residentMib: 300, utilization: 0.9 };
    const idle = collectWhenIdle({
      system,
      collect: async () => {
        await system.sleep(100);
        seen.collections += 1;
        seen.residentMib = 120;
      },
      residentBytes: () => seen.residentMib * mib,
      utilization: () => seen.utilization,
    });
    await system.advance(60_000);
    expect(seen.collections).toBe(0);
    seen.utilization = 0;
    await system.advance(11_000);
    expect(seen.collections).toBe(1);
    await system.advance(600_000);
    expect(seen.collections).toBe(1);
    seen.residentMib = 200;
    await system.advance(11_000);
    expect(seen.collections).toBe(2);
    idle[Symbol.dispose]();
    expect(system.pendingTimers).toBe(0);
  });
});
