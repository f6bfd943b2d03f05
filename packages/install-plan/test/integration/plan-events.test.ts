import { aConfigMap, eventually } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { keepLog } from "../support/kept-log.ts";
import { configMaps } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

/** The events about phases, in their order. */
async function phaseEvents(bench: Workbench): Promise<readonly string[]> {
  const found = (await bench.events("p")).filter(({ action }) => action === "ChangePhase");
  return found
    .toSorted((one, other) => one.eventTime.localeCompare(other.eventTime))
    .map(({ type, reason }) => `${type} ${reason}`);
}

test("[install-plan/126] every change of the phase is one event and one log line; nothing else is", async () => {
  await using bench = await setUpWorkbench({ isOperating: false });
  const kept = keepLog();
  await bench.operate({ log: kept.log });
  const { metadata } = await bench.client.create(
    configMaps,
    aConfigMap({ name: "taken", namespace: bench.namespace }),
  );
  await bench.create(bench.plan("p", [{ name: "s", resources: [configMap("taken")] }]));
  await bench.inPhase("p", "Invalid");
  await eventually(async () => (await phaseEvents(bench)).length === 1);
  const [collision] = await bench.events("p");
  expect(collision?.note).toMatch(/^Collision: .*ConfigMap .*\/taken already exists/);
  await bench.client.delete(configMaps, metadata);
  await bench.installed("p");
  // A reconcile that changes the status but not the phase.
  await bench.patchPlan("p", { spec: { historyLimit: 7 } });
  await bench.until("p", ({ observedGeneration }) => observedGeneration === 2);
  await eventually(async () => (await phaseEvents(bench)).includes("Normal Installed"));
  expect(await phaseEvents(bench)).toEqual(["Warning Invalid", "Normal Applying", "Normal Installed"]);
  const logged = [...kept.text().matchAll(/"phase":"(\w+)".*"phase changed"/g)].map(([, phase]) => phase);
  expect(logged).toEqual(["Invalid", "Applying", "Installed"]);
});
