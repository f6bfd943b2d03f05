import { type Bed, makeBed } from "./runtime/bed.ts";
import { benchCopy } from "./runtime/copy.ts";
import { benchEvents } from "./runtime/events.ts";
import { benchIdle } from "./runtime/idle.ts";
import { benchSync } from "./runtime/sync.ts";
import { benchUnary } from "./runtime/unary.ts";
import { benchWebhook } from "./runtime/webhook.ts";
import type { BenchOptions, Row, Section } from "./table.ts";

const parts: Readonly<Record<string, (bed: Bed) => Promise<readonly Row[]>>> = {
  unary: benchUnary,
  copy: benchCopy,
  idle: benchIdle,
  events: benchEvents,
  sync: benchSync,
  webhook: benchWebhook,
};

/** The numbers that the runtime is held to, all on one API server. `--only=unary,sync` runs some of the parts. */
export async function benchRuntime({ isQuick, idleMinutes, only }: BenchOptions): Promise<Section> {
  await using bed = await makeBed({ isQuick, idleMinutes });
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(parts)) {
    if (only.length > 0 && !only.includes(name)) continue;
    console.error(`runtime: ${name}`);
    rows.push(...(await run(bed)));
  }
  const sizes = isQuick ? ", small sizes" : "";
  return {
    title: `runtime (Kubernetes ${bed.cluster.kubernetesVersion}${sizes}, medians of interleaved rounds)`,
    rows,
  };
}
