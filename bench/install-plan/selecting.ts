import { setTimeout as sleep } from "node:timers/promises";

import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";

import type { Row } from "../table.ts";
import type { PlanBed } from "./bed.ts";
import { planOf, someConfigMaps } from "./plans.ts";

/** Paused plans that all select each other, as a hostile author would make them. */
export async function benchPlansSelecting(bed: PlanBed): Promise<readonly Row[]> {
  const { client, options, operator } = bed;
  const count = options.isQuick ? 200 : 1_000;
  const namespace = "selecting";
  await bed.makeNamespace(namespace);
  const before = { ...operator.usage(), reconciles: await operator.reconciles() };
  for (let at = 0; at < count; at += 1) {
    const plan = planOf({ namespace, name: `p-${at}` }, someConfigMaps(namespace, 1), 16);
    const metadata = { ...plan.metadata, labels: { app: "x" } };
    const replaces = { selector: "app=x", finishWhen: "Ready", onFailure: "Hold" } as const;
    const spec = { ...plan.spec, paused: true, replaces };
    await client.create(installPlan.kind, { ...plan, metadata, spec });
  }
  let reconciles = before.reconciles;
  // Quiet again: all of them were reconciled once more after the last was made.
  await eventually(
    async () => {
      const known = reconciles;
      await sleep(2_000);
      reconciles = await operator.reconciles();
      return reconciles === known ? true : undefined;
    },
    { withinMs: 300_000 },
  );
  const cpuMs = operator.usage().cpuMs - before.cpuMs;
  const made = reconciles - before.reconciles;
  const what = `${count.toLocaleString("en")} plans that select each other`;
  return [
    { what: `${what}: ms per reconcile`, measured: `${(cpuMs / made).toFixed(1)} ms`, bar: "< 50 ms" },
    { what: `${what}: reconciles until all is quiet`, measured: String(made) },
  ];
}
