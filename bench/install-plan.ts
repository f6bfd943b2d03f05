import { type PlanBed, makePlanBed } from "./install-plan/bed.ts";
import { benchConfigMaps } from "./install-plan/config-maps.ts";
import { benchDrift } from "./install-plan/drift.ts";
import { benchPlansIdle } from "./install-plan/idle.ts";
import { benchKubePrometheus } from "./install-plan/kube-prometheus.ts";
import { benchPlansSelecting } from "./install-plan/selecting.ts";
import type { BenchOptions, Row, Section } from "./table.ts";

const parts: Readonly<Record<string, (bed: PlanBed) => Promise<readonly Row[]>>> = {
  "config-maps": benchConfigMaps,
  "kube-prometheus": benchKubePrometheus,
  drift: benchDrift,
  idle: benchPlansIdle,
  selecting: benchPlansSelecting,
};

/** The numbers that plans are held to, beside kubectl, Helm and kapp on one API server. `--only=drift,idle` runs some parts. */
export async function benchInstallPlan(options: BenchOptions): Promise<Section> {
  await using bed = await makePlanBed(options);
  const rows: Row[] = [];
  for (const [name, run] of Object.entries(parts)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    console.error(`install-plan: ${name}`);
    const found = await run(bed);
    // A whole run takes a quarter of an hour: what is known is not lost when a later part fails.
    for (const { what, measured } of found) console.error(`  ${what} ${measured}`.trimEnd());
    rows.push(...found);
  }
  const sizes = options.isQuick ? ", small sizes" : "";
  return {
    title: `install-plan (Kubernetes ${bed.cluster.kubernetesVersion}${sizes}, medians of interleaved rounds)`,
    rows,
  };
}
