import { setTimeout as sleep } from "node:timers/promises";

import { installPlan } from "@quartermaster/api";
import { eventually } from "@quartermaster/testkit";

import { configMaps } from "../contestants/kinds.ts";
import type { Row } from "../table.ts";
import type { PlanBed } from "./bed.ts";
import { deletePlan, planOf, someConfigMaps, untilReady } from "./plans.ts";
import { agents, describeRequests, requestsSince } from "./requests.ts";

/** From another client's write to an object of a plan of 1,000 until it is as it was, and how many requests the operator made for that. */
export async function benchDrift(bed: PlanBed): Promise<readonly Row[]> {
  const { client, options, audit } = bed;
  const ref = { namespace: "drift", name: "drift" };
  await bed.makeNamespace(ref.namespace);
  const objects = someConfigMaps(ref.namespace, options.isQuick ? 200 : 1_000);
  await client.create(installPlan.kind, planOf(ref, objects, 16));
  await untilReady(bed.plans, ref);
  const samples = objects.slice(0, options.isQuick ? 10 : 40);
  const position = await audit.position();
  const times: number[] = [];
  for (const { metadata, data } of samples) {
    times.push(await disturb(bed, metadata, data["text"] ?? ""));
    // Each one is to meet an operator at rest.
    await sleep(100);
  }
  await untilReady(bed.plans, ref);
  const requests = await requestsSince(audit, position, agents.ours);
  await deletePlan(bed, ref);
  const sorted = times.toSorted((one, other) => one - other);
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
  return [
    {
      what: `drift of one of ${objects.length} reverted, p95 of ${samples.length}`,
      measured: `${p95.toFixed(0)} ms`,
      bar: "≤ 1,000 ms",
    },
    {
      what: "patches of objects per drift",
      measured: ((requests["patch"] ?? 0) / samples.length).toFixed(2),
      bar: "1",
    },
    { what: `  requests for ${samples.length} drifts: ${describeRequests(requests)}`, measured: "" },
  ];
}

async function disturb(
  { client }: PlanBed,
  { name, namespace = "" }: { readonly name: string; readonly namespace?: string },
  permission: string,
): Promise<number> {
  const ref = { name, namespace };
  const body = { data: { text: "changed" } };
  await client.patch(configMaps, ref, { patch: { kind: "merge", body }, fieldManager: "somebody" });
  const startedMs = performance.now();
  await eventually(async () => (await client.get(configMaps, ref)).data?.["text"] === permission, {
    everyMs: 2,
  });
  return performance.now() - startedMs;
}
