import type { InstallPlan } from "@quartermaster/api";
import { planMetrics } from "@quartermaster/install-plan";
import { createMetrics } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { injectionMetrics } from "@quartermaster/subscription";

/** One line of the page. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Just enough of Prometheus' text format. */
export function samplesIn(page: string): readonly Sample[] {
  const lines = page.matchAll(/^(?<name>[a-zA-Z_:]\w*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/gm);
  return [...lines].map(({ groups = {} }) => {
    const labels = [...(groups["labels"] ?? "").matchAll(/(\w+)="([^"]*)"/g)];
    return {
      name: groups["name"] ?? "",
      labels: Object.fromEntries(labels.map(([, key = "", value = ""]) => [key, value])),
      value: Number(groups["value"]),
    };
  });
}

/** The operator's page with these plans, after something has happened of each kind that makes a series. */
export async function pageWith(plans: readonly InstallPlan[] = []): Promise<string> {
  const metrics = createMetrics({
    system: new VirtualSystem(),
    controllers: [{ name: "installplans" }, { name: "resourcemanifests" }],
    leases: ["quartermaster"],
  });
  const observer = planMetrics(metrics.series, () => plans);
  observer.wrote?.("apply");
  observer.wrote?.("apply");
  observer.repaired?.("reverted");
  observer.stagePassed?.(3_000);
  injectionMetrics(metrics.series, () => 0).took(1);
  const call = { method: "GET", verb: "get", host: "api", code: "200" };
  metrics.observe({ ...call, durationMs: 1, requestBytes: 0, responseBytes: 1 });
  metrics.observeRetry(call);
  return await metrics.render();
}
