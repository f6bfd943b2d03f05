import { describe, expect, test } from "vitest";

import { curves, dayMs, runWeek, turnsByDay, type Week, weekPolicy } from "../../support/autoscaling-week.ts";
import { weekChart } from "../../support/week-chart.ts";

const weeks = new Map(curves.map((curve) => [curve.name, runWeek(curve)]));

function week(name: string): Week {
  const found = [...weeks].find(([known]) => known.startsWith(name))?.[1];
  if (found === undefined) throw new Error(`no week ${name}`);
  return found;
}

describe("a simulated week", () => {
  test.each(curves.map(({ name }) => ({ name })))(
    "$name: within the limits, and no drain that would be refused",
    ({ name }) => {
      const { moments, refusedDrains } = week(name);
      const targets = moments.map(({ target }) => target);
      expect(Math.min(...targets)).toBeGreaterThanOrEqual(weekPolicy.minReplicas);
      expect(Math.max(...targets)).toBeLessThanOrEqual(weekPolicy.maxReplicas);
      expect(refusedDrains).toBe(0);
    },
  );

  test("day and night: grows and shrinks once a day, never more than two turns, and is never overloaded", () => {
    const { moments, overloaded } = week("day and night");
    const turns = turnsByDay(week("day and night"));
    expect(Math.max(...turns)).toBeLessThanOrEqual(2);
    expect(turns.reduce((all, day) => all + day, 0)).toBeGreaterThanOrEqual(6);
    expect(overloaded).toBe(0);
    const targets = new Set(moments.map(({ target }) => target));
    expect(targets).toEqual(new Set([3, 4, 5, 6, 7]));
  });

  test("a spike of a minute changes nothing, one of an hour does, and goes again", () => {
    const { moments } = week("spikes");
    const between = (from: number, to: number): readonly number[] =>
      moments.filter(({ atMs }) => atMs >= from * dayMs && atMs < to * dayMs).map(({ target }) => target);
    expect(new Set(between(1, 2)).size).toBe(1);
    expect(Math.max(...between(3, 4))).toBeGreaterThan(6);
    expect(between(6, 7).at(-1)).toBe(between(1, 2).at(-1));
  });

  test("disks that fill only ever add nodes", () => {
    const targets = week("disks").moments.map(({ target }) => target);
    // The first hours still show what the pool began with.
    const later = targets.slice(Math.round(targets.length / 7));
    expect(later.every((target, at) => target >= (later[at - 1] ?? 0))).toBe(true);
    expect(later.at(-1)).toBeGreaterThan(6);
  });

  test("while samples are lost nothing changes", () => {
    const { moments } = week("day and night, no samples");
    const changed = moments.filter(
      ({ isLost, target }, at) =>
        isLost && moments[at - 1]?.isLost === true && target !== moments[at - 1]?.target,
    );
    // The window holds on for as long as a hole has to be to count as one.
    expect(
      changed.map(({ atMs }) => ((atMs % dayMs) - (20 * dayMs) / 24) / 1000).every((after) => after <= 90),
    ).toBe(true);
  });

  test("a silent node never costs a node more than without it", () => {
    const [heard, silent] = [week("day and night"), week("day and night, a node is silent")];
    const lowest = (of: Week): number =>
      Math.min(
        ...of.moments.filter(({ atMs }) => atMs >= 2.2 * dayMs && atMs < 4 * dayMs).map(({ nodes }) => nodes),
      );
    expect(lowest(silent)).toBeGreaterThanOrEqual(lowest(heard));
    expect(silent.overloaded).toBe(0);
  });

  test("the chart in the documentation is that of these weeks", async () => {
    await expect(weekChart([...weeks.values()])).toMatchFileSnapshot(
      "../../../../../docs/images/autoscaling-week.svg",
    );
  });
});
