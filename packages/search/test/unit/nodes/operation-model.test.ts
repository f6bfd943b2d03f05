import { describe, expect, test } from "vitest";

import { stepsOf } from "../../support/model-steps.ts";
import { firstModel, isAtRest, isReleased, type Model } from "../../support/operation-model.ts";

interface Visit {
  readonly model: Model;
  readonly from: Visit | undefined;
  readonly what: string;
}

function pathTo(visit: Visit | undefined): readonly string[] {
  const path: string[] = [];
  for (let at = visit; at !== undefined; at = at.from) path.unshift(at.what);
  return path;
}

interface Exploration {
  readonly states: number;
  /** Steps from the first state to which everything was looked at. */
  readonly depth: number;
  readonly visits: readonly Visit[];
  readonly broken: readonly string[];
}

/** More states than memory has room for: an exploration that reaches them fails. */
const mostStates = 6_000_000;

/** Breadth first over everything that can happen, each state once. */
function explore(first: Model, depth: number): Exploration {
  const seen = new Set([JSON.stringify(first)]);
  const visits: Visit[] = [{ model: first, from: undefined, what: "start" }];
  let level: readonly Visit[] = visits;
  for (let at = 0; at < depth; at += 1) {
    if (seen.size > mostStates) return { states: seen.size, depth: at, visits, broken: [] };
    const reached = level.flatMap((visit) =>
      stepsOf(visit.model).map(({ next, what, broken }) => ({ model: next, from: visit, what, broken })),
    );
    const bad = reached.find(({ broken }) => broken.length > 0);
    if (bad !== undefined)
      return { states: seen.size, depth: at, visits, broken: [...bad.broken, ...pathTo(bad)] };
    level = reached.filter(({ model }) => isNew(JSON.stringify(model), seen));
    for (const visit of level) visits.push(visit);
  }
  return { states: seen.size, depth, visits, broken: [] };
}

function isNew(key: string, seen: Set<string>): boolean {
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}

/** No one interferes any more, and all clients gets a turn: every state on the way to where it ends. */
function settle(model: Model, isHeld = false): readonly Model[] {
  const path: Model[] = [{ ...model, spec: { ...model.spec, isHeld }, left: 0, isSilent: false }];
  const isEnd = isHeld ? isReleased : isAtRest;
  for (let round = 0; round < 120 && !isEnd(last(path)); round += 1) {
    const turns = stepsOf(last(path)).filter(({ what }) => !what.includes("dies"));
    for (const { what } of turns) {
      const step = stepsOf(last(path)).find((each) => each.what === what);
      if (step !== undefined) path.push(step.next);
    }
  }
  return path;
}

function last(path: readonly Model[]): Model {
  const model = path.at(-1);
  if (model === undefined) throw new Error("an empty path");
  return model;
}

/** States from which it does not end well, with the way there: as declared, or with nothing of ours left while it is held. */
function stuck(visits: readonly Visit[], every: number): readonly string[] {
  for (const isHeld of [false, true]) {
    const isEnd = isHeld ? isReleased : isAtRest;
    const found = visits.find(({ model }, at) => at % every === 0 && !isEnd(last(settle(model, isHeld))));
    if (found !== undefined) return [...pathTo(found), JSON.stringify(last(settle(found.model, isHeld)))];
  }
  return [];
}

const isCampaign = process.env["QM_CAMPAIGN"] === "1";
const every = isCampaign ? 500 : 200;

describe("restart and removal under everything that can happen", () => {
  test.for<readonly [number, string, number]>([
    [3, "volumes", isCampaign ? 14 : 12],
    [3, "emptyDirs", isCampaign ? 14 : 12],
    [2, "volumes", 12],
    [2, "emptyDirs", 12],
    [1, "volumes", 12],
  ])(
    "[search/SC-108] %i nodes on %s, depth %i: crash, stale store, old sample, silent engine, other writers, a spec that is held: no invariant is broken, and it always ends well",
    { timeout: 30 * 60_000 },
    ([nodes, disks, depth]) => {
      const first = firstModel(nodes, isCampaign ? 3 : 2, disks === "emptyDirs");
      const { visits, ...explored } = explore(first, depth);
      expect(explored).toMatchObject({ broken: [], depth });
      // S-10: from wherever it is, it comes to rest with nothing of ours left in the engine.
      expect(stuck(visits, every)).toEqual([]);
      process.stdout.write(
        `SC-108: ${String(nodes)} nodes on ${disks}, depth ${String(depth)}: ${String(explored.states)} states\n`,
      );
    },
  );

  test.for<[string, Partial<Model["spec"]>]>([
    ["a roll", { config: 1 }],
    ["a removal", { nodes: 2 }],
    ["both at once", { config: 1, nodes: 2 }],
  ])(
    "[search/SC-108] the same from every state on the way through %s",
    { timeout: 30 * 60_000 },
    ([what, spec]) => {
      const first = firstModel(3, 1);
      const path = settle({ ...first, spec: { ...first.spec, ...spec } });
      expect(isAtRest(last(path))).toBe(true);
      let sum = 0;
      for (const model of path) {
        // Held here, it gives everything back; and when it continues, it ends as it should have.
        const held = last(settle(model, true));
        expect(isReleased(held)).toBe(true);
        expect(isAtRest(last(settle(held)))).toBe(true);
        const depth = isCampaign ? 7 : 4;
        const { visits, ...explored } = explore({ ...model, left: 1 }, depth);
        expect(explored).toMatchObject({ broken: [], depth });
        expect(stuck(visits, every)).toEqual([]);
        sum += explored.states;
      }
      process.stdout.write(`SC-108: ${what}: ${String(sum)} states around ${String(path.length)}\n`);
    },
  );
});
