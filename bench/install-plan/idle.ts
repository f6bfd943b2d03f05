import { setTimeout as sleep } from "node:timers/promises";

import { installPlan } from "@quartermaster/api";

import { megabytes, type Row, seconds } from "../table.ts";
import type { PlanBed } from "./bed.ts";
import { planOf, someConfigMaps, untilReady } from "./plans.ts";
import { agents, describeRequests, requestsSince, total } from "./requests.ts";

/** Many installed plans, and nothing happens. */
export async function benchPlansIdle(bed: PlanBed): Promise<readonly Row[]> {
  const { client, options, operator, audit } = bed;
  const [plans, size] = options.isQuick ? [4, 100] : [20, 500];
  const refs = Array.from({ length: plans }, (_, index) => ({
    namespace: `idle-${index + 1}`,
    name: "idle",
  }));
  for (const ref of refs) {
    await bed.makeNamespace(ref.namespace);
    await client.create(installPlan.kind, planOf(ref, someConfigMaps(ref.namespace, size), 16));
  }
  for (const ref of refs) await untilReady(bed.plans, ref);
  await sleep(settleMs);
  const position = await audit.position();
  const before = operator.usage();
  const watchedMs = options.idleMinutes * 60_000;
  await sleep(watchedMs);
  const after = operator.usage();
  const requests = await requestsSince(audit, position, agents.ours);
  const share = ((after.cpuMs - before.cpuMs) / watchedMs) * 100;
  const what = `${plans} plans × ${size} objects, idle for ${seconds(watchedMs)}`;
  return [
    { what: `${what}: requests besides watches`, measured: String(total(requests)), bar: "0" },
    { what: `  ${describeRequests(requests)}`, measured: "" },
    { what: `${what}: RSS`, measured: megabytes(after.residentBytes), bar: "≤ 210 MB (200 MiB)" },
    { what: `${what}: peak since the start of the operator`, measured: megabytes(after.peakBytes) },
    { what: `${what}: CPU`, measured: `${share.toFixed(2)} %` },
  ];
}

/** Events and the last status are written by then. */
const settleMs = 5_000;
