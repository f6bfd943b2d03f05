import { jobs } from "@quartermaster/runtime/kinds";
import { aJob, eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { gated, inline } from "../support/manifests.ts";
import { setUpWorkbench } from "../support/workbench.ts";

test("a Job among a plan's objects that the cluster removes after its time is not run again", async () => {
  await using bench = await setUpWorkbench();
  const { namespace } = bench;
  const { apiVersion, kind, spec } = aJob({ name: "once", outcome: "complete" });
  const manifest = {
    apiVersion,
    kind,
    metadata: { name: "once" },
    spec: { ...spec, ttlSecondsAfterFinished: 1 },
  };
  await bench.create(bench.plan("p", [{ name: "s", resources: [inline(manifest)] }]));
  await bench.installed("p");
  const position = await bench.audit.position();
  await eventually(async () => (await bench.client.find(jobs, { namespace, name: "once" })) === undefined);
  await bench.patchPlan("p", { metadata: { labels: { touched: "yes" } } });
  // A second plan through the whole of its life is time enough for the first to do something wrong.
  const again = { ...manifest, metadata: { name: "other" } };
  await bench.create(bench.plan("q", [{ name: "s", resources: [inline(again)] }]));
  await bench.installed("q");
  const writes = await bench.writes(position);
  expect(writes.filter(({ name }) => name === "once")).toEqual([]);
  const { status } = await bench.installed("p");
  expect(status?.counts).toMatchObject({ ready: 1, missing: 0 });
});

test("a Job that the cluster removes after its time while no operator runs is not run again", async () => {
  await using bench = await setUpWorkbench({ isOperating: false });
  const { namespace } = bench;
  const first = await bench.operate();
  const { apiVersion, kind, spec } = aJob({ name: "once", outcome: "complete" });
  const once = {
    apiVersion,
    kind,
    metadata: { name: "once" },
    spec: { ...spec, ttlSecondsAfterFinished: 5 },
  };
  await bench.create(bench.plan("p", [{ name: "s", resources: [inline(once), gated("gate")] }]));
  await bench.until("p", ({ states = [] }) => states[0]?.startsWith("R") === true);
  await first.stop();
  await eventually(async () => (await bench.client.find(jobs, { namespace, name: "once" })) === undefined);
  const position = await bench.audit.position();
  await bench.operate();
  await bench.openGate("gate");
  await bench.installed("p");
  const writes = await bench.writes(position);
  expect(writes.filter(({ name }) => name === "once")).toEqual([]);
});
