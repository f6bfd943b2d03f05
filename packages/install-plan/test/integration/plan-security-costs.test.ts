import { inParallel, type KubeObject } from "@quartermaster/runtime";
import { aConfigMap, startOperator } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { conditionOf } from "../support/conditions.ts";
import { coreRule } from "../support/grants.ts";
import { bystanderInstalls, letMalloryIn } from "../support/mallory.ts";
import { configMap } from "../support/manifests.ts";
import { reference, storeAs, storedName } from "../support/stored.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("what a hostile plan costs", () => {
  test("[security/90] a hundred paused plans that select each other leave the operator responsive", async () => {
    await using bench = await setUpWorkbench();
    const mallory = await letMalloryIn(bench);
    const stages = [{ name: "s", resources: [configMap("c")] }];
    const before = process.threadCpuUsage();
    const spec = { paused: true, replaces: { selector: "app=x" } };
    const plans = Array.from({ length: 100 }, (_, at) => mallory.plan(`p${at}`, stages, spec));
    await inParallel(
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

  test("[security/91] an expression that makes its own work is too expensive and delays no one", async () => {
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

  test("[security/92] manifests of 4 MiB in 6 kB, referred to five hundred times, are read once each", async () => {
    await using bench = await setUpWorkbench({ isOperating: false });
    const mallory = await letMalloryIn(bench);
    const large = (name: string): KubeObject => aConfigMap({ name, data: { text: "a".repeat(4_000_000) } });
    const others = Array.from({ length: 6 }, (_, at) => large(`c${at}`));
    const object = large("c");
    await using operator = await startOperator(bench.operatorAccess, ["--watch-namespace", bench.namespace]);
    await bystanderInstalls(bench, "before");
    const calmBytes = operator.peakBytes();
    for (const each of [object, ...others]) await storeAs(bench, storedName(each), each);
    const one = reference(object);
    const often = Array.from({ length: 500 }, () => one);
    const plans = ["a", "b", "c", "d"].map((name) =>
      mallory.plan(name, [{ name: "s", resources: often }], { paused: true }),
    );
    const resources = others.map((each) => reference(each));
    for (const plan of [...plans, mallory.plan("sum", [{ name: "s", resources }])])
      await mallory.create(plan);
    const { status } = await bench.inPhase("sum", "Invalid");
    expect(status?.message).toContain("the manifestRefs in spec.stages inflate to more than 16 MiB in total");
    for (const { metadata } of plans) await bench.until(metadata.name, ({ phase }) => phase !== undefined);
    await bystanderInstalls(bench);
    const peakBytes = operator.peakBytes();
    const [calm, peak] = [calmBytes, peakBytes].map((bytes) => Math.round(bytes / 1e6));
    process.stdout.write(`peak memory ${calm} MB before and ${peak} MB under attack\n`);
    // What the attack costs, whatever else the program holds; five hundred copies would be 2 GB.
    expect(peakBytes - calmBytes).toBeLessThan(200e6);
    // And within the container's limit.
    expect(peakBytes).toBeLessThan(512 * 1024 * 1024);
  });
});
