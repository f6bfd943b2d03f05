import { expect, test } from "vitest";

import { planReport } from "../../../src/report/plan-report.ts";
import { wakeTriggers } from "../../../src/wake/wake-triggers.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, aView, clear } from "../../support/seen.ts";

const now = new Date("2026-01-01T00:00:00Z");

test("every object that something is wrong with stands in the details, also when the message is full", () => {
  const issues = Array.from({ length: 30 }, (_, index) => ({
    reason: "Rejected" as const,
    stage: "s",
    index,
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: `c${index}` },
    field: "data.a",
    message: `ConfigMap ns/c${index} was rejected: ${"no ".repeat(50)}`,
  }));
  const members = issues.map(({ object: { name } }) =>
    aView(name, { ownership: { kind: "absent" }, state: "Waiting" }),
  );
  const seen = aSeen(aPlan("p"), { members, preflight: { ...clear, issues } });
  const { status } = planReport(seen, now, { phase: "Invalid", message: "no" });
  expect(status.details?.map(({ index, fields }) => [index, fields])).toEqual(
    issues.map(({ index }) => [index, ["data.a"]]),
  );
  expect(status.details?.[0]).toMatchObject({ stage: "s", object: { name: "c0" }, reason: "Rejected" });
});

test("a plan whose CRD would be unsafe waits for a change of kinds", () => {
  const issue = { reason: "UnsafeCRD", message: "no" } as const;
  const seen = aSeen(aPlan("p"), { preflight: { ...clear, issues: [issue] } });
  expect(wakeTriggers(seen)).toContain("kinds");
});
