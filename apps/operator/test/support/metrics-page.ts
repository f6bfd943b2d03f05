import type { Bundle, InstallPlan } from "@quartermaster/api";
import { planMetrics } from "@quartermaster/install-plan";
import { type LicensingMetrics, licensingMetrics } from "@quartermaster/licensing";
import { createMetrics } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { searchMetrics } from "@quartermaster/search";
import { exporterPage } from "@quartermaster/search/testing";
import { bundleMetrics, injectionMetrics, syncMetrics } from "@quartermaster/subscription";

/** What Prometheus finds at the operator and at the exporter of a search cluster. */
export async function allPages(plans: readonly InstallPlan[] = []): Promise<string> {
  return `${await pageWith(plans)}${exporterPage("logs")}`;
}

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

/** An EnterpriseLicense of 10 instances of which 11 are used, and a cluster that refuses its license. */
const someLicenses = {
  clusters: () => [
    {
      metadata: { name: "logs", namespace: "team" },
      status: { license: { type: "gold", state: "Rejected" } },
    },
  ],
  licenses: () => [],
  pool: () => [
    {
      metadata: { name: "pool", namespace: "licenses" },
      spec: { expiryDate: 5_000 },
      status: { used: 11, limit: 10 },
    },
  ],
  associations: () => [],
} as unknown as LicensingMetrics;

/** The operator's page with these plans and bundles, after something has happened of each kind that makes a series. */
export async function pageWith(
  plans: readonly InstallPlan[] = [],
  bundles: readonly Bundle[] = [],
  licenses: LicensingMetrics = someLicenses,
): Promise<string> {
  const metrics = createMetrics({
    system: new VirtualSystem(),
    controllers: [{ name: "installplans" }, { name: "resourcemanifests" }],
    leases: ["quartermaster"],
    webhooks: ["/subscription/pods"],
  });
  const observer = planMetrics(metrics.series, () => plans);
  observer.wrote?.("apply");
  observer.wrote?.("apply");
  observer.repaired?.("reverted");
  observer.stagePassed?.(3_000);
  bundleMetrics(metrics.series, { bundles: () => bundles, clusterBundles: () => [] });
  syncMetrics(metrics.series)("quartermaster-subscription", "inSync");
  injectionMetrics(metrics.series, {
    serving: { certificateExpiresMs: () => 5_000, silentMs: () => 2_000 },
    wallMs: () => 1_000,
    keyIndex: { size: 3, watched: 2 },
  }).reviewed({ result: "allowed", isCached: true });
  const search = searchMetrics(metrics.series);
  search.targetsReadable(() => [{ pool: "team/logs/data", target: 3 }]);
  search.engineCalled("health", "ok");
  search.eventRecorded({ type: "Normal", reason: "NodeRestarted", action: "RestartNode", note: "" });
  search.clusterReported({ uid: "1", name: "team/logs" }, true);
  search.licenseTried("applied");
  licensingMetrics(metrics.series, licenses);
  const call = { method: "GET", verb: "get", host: "api", code: "200" };
  metrics.observe({ ...call, durationMs: 1, requestBytes: 0, responseBytes: 1 });
  metrics.observeRetry(call);
  return await metrics.render();
}
