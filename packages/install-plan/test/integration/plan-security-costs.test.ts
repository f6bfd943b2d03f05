import { describe, expect, test } from "vitest";

import { inBatches } from "../../src/in-batches.ts";
import { conditionOf } from "../support/conditions.ts";
import { coreRule } from "../support/grants.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("what a hostile plan costs", () => {
  test("[security/90] a hundred paused plans that select each other leave the operator responsive", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench);
    const stages = [{ name: "s", resources: [configMap("c")] }];
    const before = process.threadCpuUsage();
    const spec = { paused: true, replaces: { selector: "app=x" } };
    const plans = Array.from({ length: 100 }, (_, at) => mallory.plan(`p${at}`, stages, spec));
    await inBatches(
      plans,
      10,
      async (plan) => await mallory.create({ ...plan, metadata: { ...plan.metadata, labels: { app: "x" } } }),
    );
    await bystanderInstalls(bench);
    await mallory.create(mallory.plan("last", stages, { replaces: { selector: "app=x" } }));
    const { status } = await bench.inPhase("last", "Invalid");
    expect(conditionOf(status, "Stalled")?.reason).toBe("InvalidReplaces");
    expect(status?.message).toContain("more than 50 plans");
    const { user, system } = process.threadCpuUsage(before);
    // The test's own work included. One walk along every path through twelve such plans takes longer.
    expect((user + system) / 1e6).toBeLessThan(20);
  });

  test("[security/91] an expression that makes its own work is too expensive and delays nobody", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench, { accountRules: [coreRule("configmaps", "*")] });
    const letters = (letter: string): string => `'${letter.repeat(1_000)}'`;
    const expression = `${letters("a")}.replace('a', ${letters("b")}).replace('b', ${letters("c")}) == ''`;
    const readiness = { mode: "Checks", checks: [{ cel: { expression } }] };
    const resources = [{ ...configMap("c"), readiness }];
    await mallory.create(mallory.plan("p", [{ name: "s", resources }]));
    const { status } = await bench.until("p", ({ details = [] }) =>
      details.some(({ reason }) => reason === "ExpressionTooExpensive"),
    );
    expect(status?.phase).toBe("Applying");
    await bystanderInstalls(bench);
  });
});
