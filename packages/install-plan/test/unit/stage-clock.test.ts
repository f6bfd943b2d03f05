import type { InstallPlan } from "@quartermaster/api";
import { expect, test } from "vitest";

import { StageClock } from "../../src/plan-observer.ts";

type Status = NonNullable<InstallPlan["status"]>;

const startedAt = "2026-01-01T00:00:00Z";

function aPlan(status: Status): InstallPlan {
  const stages = [{ name: "one" }, { name: "two" }];
  return { metadata: { name: "plan" }, spec: { stages }, status } as unknown as InstallPlan;
}

interface Look {
  readonly atMs: number;
  readonly status: Status;
  readonly gives?: number;
}

const cases: readonly { readonly name: string; readonly looks: readonly Look[] }[] = [
  {
    name: "each stage is told once, when the next one is at hand or all is done",
    looks: [
      { atMs: 0, status: {} },
      { atMs: 100, status: { startedAt, stage: "one" } },
      { atMs: 300, status: { startedAt, stage: "one" } },
      { atMs: 400, status: { startedAt, stage: "two" }, gives: 300 },
      { atMs: 900, status: { startedAt, stage: "two", finishedAt: startedAt }, gives: 500 },
      { atMs: 2_000, status: { startedAt, stage: "two", finishedAt: startedAt } },
    ],
  },
  {
    name: "removing leftovers is no stage",
    looks: [
      { atMs: 0, status: { startedAt, stage: "two" } },
      { atMs: 50, status: { startedAt, stage: "(finishing)" }, gives: 50 },
      { atMs: 90, status: { startedAt, stage: "(finishing)", finishedAt: startedAt } },
    ],
  },
  {
    name: "a new attempt means that the stage was not passed",
    looks: [
      { atMs: 0, status: { startedAt, stage: "two", attempt: 1 } },
      { atMs: 70, status: { startedAt, stage: "one", attempt: 2 } },
      { atMs: 80, status: { startedAt, stage: "two", attempt: 2 }, gives: 10 },
    ],
  },
  {
    name: "what was installed before this process is not told",
    looks: [{ atMs: 0, status: { startedAt, stage: "two", finishedAt: startedAt } }],
  },
];

test.each(cases)("$name", ({ looks }) => {
  const clock = new StageClock();
  const given = looks.map(({ atMs, status }) => clock.look(aPlan(status), atMs));
  expect(given).toEqual(looks.map(({ gives }) => gives));
});
