import { type Bed, makeBed } from "./runtime/bed.ts";
import { benchInjectionWebhook } from "./subscription/injection-webhook.ts";
import { benchKeyMemory } from "./subscription/key-memory.ts";
import type { BenchOptions, Row, Section } from "./table.ts";

const parts: Readonly<Record<string, (bed: Bed) => Promise<readonly Row[]>>> = {
  webhook: benchInjectionWebhook,
  memory: benchKeyMemory,
};

/** The pod webhook beside the same decision in Go, and its memory, on one API server. `--only=memory` runs one of the parts. */
export async function benchSubscription({ isQuick, idleMinutes, only }: BenchOptions): Promise<Section> {
  await using bed = await makeBed({ isQuick, idleMinutes });
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only.length === 0 || only.includes(name)) rows.push(...(await part(bed)));
  }
  const sizes = isQuick ? ", small sizes" : "";
  return {
    title: `subscription (Kubernetes ${bed.cluster.kubernetesVersion}${sizes}, medians of interleaved rounds)`,
    rows,
  };
}
