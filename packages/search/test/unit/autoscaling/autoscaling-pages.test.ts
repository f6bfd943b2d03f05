import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createMetrics, realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import {
  autoscalingCondition,
  limitsText,
  limitTexts,
} from "../../../src/autoscaling/autoscaling-condition.ts";
import type { LaneDecision } from "../../../src/lane.ts";
import { searchMetrics } from "../../../src/search-metrics.ts";

describe("reasons of limitedBy", () => {
  test("each has its row in the guide", () => {
    const guide = readFileSync(
      join(import.meta.dirname, "../../../../../docs/guides/search-scale.md"),
      "utf8",
    );
    const rows = guide.split("\n").filter((line) => line.startsWith("| `"));
    const missing = Object.keys(limitTexts).filter(
      (reason) => !rows.some((row) => row.split("|")[1]?.includes(`\`${reason}\``) === true),
    );
    expect(missing).toEqual([]);
  });

  test("are said in words, also one of a newer operator", () => {
    expect(limitsText(undefined)).toBe("");
    expect(limitsText(["Step", "Moonlight"])).toBe("Step: maxStep nodes at a time; Moonlight: see the guide");
  });
});

describe("the condition AutoscalingActive", () => {
  const decided = (...limits: readonly (readonly string[])[]): LaneDecision => ({
    lane: "autoscaling",
    rule: "scalePools",
    actions: [],
    outcome: { kind: "settled" },
    intent: {
      autoscaling: {
        pools: limits.map((limitedBy, at) => ({
          pool: `p${String(at)}`,
          mode: "Auto",
          limitedBy: [...limitedBy],
        })),
      },
    },
  });

  test("is there for clusters with auto-scaling only", () => {
    expect(autoscalingCondition([])).toEqual([]);
    expect(autoscalingCondition([decided()])).toEqual([]);
  });

  test("is False while the load of a pool is not known, whatever else limits it", () => {
    expect(autoscalingCondition([decided(["Cooldown"], [])])).toMatchObject([{ status: "True" }]);
    expect(autoscalingCondition([decided(["Cooldown"], ["SamplesMissing"])])).toMatchObject([
      {
        status: "False",
        reason: "SamplesMissing",
        message: "The engine does not tell the load of p1: no node is added or removed.",
      },
    ]);
  });
});

test("[search/SC-90] the condition tells of a Prometheus that is silent", () => {
  const row = { pool: "data", mode: "Auto" as const, limitedBy: ["PrometheusSilent"] };
  const outcome = { kind: "settled" } as const;
  const lane = { lane: "autoscaling", rule: "scalePools", actions: [], outcome };
  expect(autoscalingCondition([{ ...lane, intent: { autoscaling: { pools: [row] } } }])).toMatchObject([
    { status: "False", reason: "PrometheusSilent" },
  ]);
});

test("targets of all controllers are on the page of metrics", async () => {
  const metrics = createMetrics({ system: realSystem(), processMetrics: false });
  const { targetsReadable } = searchMetrics(metrics.series);
  targetsReadable(() => [{ pool: "team/logs/data", target: 5 }]);
  targetsReadable(() => [{ pool: "team/old/data", target: 2 }]);
  const page = await metrics.render();
  expect(page).toContain('quartermaster_search_autoscaling_target{pool="team/logs/data"} 5');
  expect(page).toContain('quartermaster_search_autoscaling_target{pool="team/old/data"} 2');
});
