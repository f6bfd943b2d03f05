import { makeBed } from "./runtime/bed.ts";
import { benchInjectionWebhook } from "./subscription/injection-webhook.ts";
import type { BenchOptions, Section } from "./table.ts";

/** The pod webhook beside the same decision in Go, on one API server, in one run. */
export async function benchSubscription({ isQuick, idleMinutes }: BenchOptions): Promise<Section> {
  await using bed = await makeBed({ isQuick, idleMinutes });
  const rows = await benchInjectionWebhook(bed);
  const sizes = isQuick ? ", small sizes" : "";
  return {
    title: `subscription (Kubernetes ${bed.cluster.kubernetesVersion}${sizes}, medians of interleaved rounds)`,
    rows,
  };
}
