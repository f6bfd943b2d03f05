import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { prometheusProgram } from "@quartermaster/testkit";
import { afterAll, describe, expect, test } from "vitest";

import { exporterSeries } from "../../src/exporter/index.ts";
import { type AlertRule, alertRules, type AlertScope, ruleFile } from "../../src/monitoring/alert-rules.ts";
import { grafanaDashboards } from "../../src/monitoring/grafana-dashboards.ts";

const ofCluster = 'namespace="team",cluster="logs"';
const ofNode = `${ofCluster},node="logs-0"`;
const clusterLabels = { namespace: "team", cluster: "logs" };
const nodeLabels = { ...clusterLabels, node: "logs-0" };

/** Series by selector, with their values in promtool's notation. */
type Series = Readonly<Record<string, string>>;

interface AlertCase {
  readonly alert: string;
  readonly fires: Series;
  readonly silent: Series;
  /** Labels of the alert that fires. */
  readonly labels: Readonly<Record<string, string>>;
  /** How often is sampled and evaluated (default: each minute). */
  readonly every?: string;
  /** When it has fired (default: after 40 minutes). */
  readonly at?: string;
}

/** The value for hours. */
function steady(value: number): string {
  return `${String(value)}+0x200`;
}

function cluster(name: string, value: string, more = ""): Series {
  return { [`${name}{${ofCluster}${more}}`]: value };
}

function node(name: string, value: string, more = ""): Series {
  return { [`${name}{${ofNode}${more}}`]: value };
}

function voters(committed: number, present: number): Series {
  return {
    ...cluster("quartermaster_search_voters", steady(committed), ',state="committed"'),
    ...cluster("quartermaster_search_voters", steady(present), ',state="present"'),
  };
}

function disk(available: number): Series {
  const watermark = "opensearch_cluster_routing_allocation_disk_watermark";
  return {
    ...node("opensearch_fs_total_available_bytes", steady(available)),
    ...node("opensearch_fs_total_total_bytes", steady(100)),
    ...cluster(`${watermark}_low_pct`, steady(85)),
    ...cluster(`${watermark}_flood_stage_pct`, steady(95)),
  };
}

function shards(active: number, unassigned: number): Series {
  return {
    ...cluster("opensearch_cluster_shards_number", steady(active), ',type="active"'),
    ...cluster("opensearch_cluster_shards_number", steady(unassigned), ',type="unassigned"'),
    ...cluster("opensearch_cluster_datanodes_number", steady(2)),
    ...cluster("quartermaster_search_max_shards_per_node", steady(100)),
  };
}

function rejected(pool: string, values: string): Series {
  return node("opensearch_threadpool_threads_count", values, `,name="${pool}",type="rejected"`);
}

const status = "opensearch_cluster_status";
const relocating = (values: string): Series =>
  cluster("opensearch_cluster_shards_number", values, ',type="relocating"');
const certificate = "quartermaster_search_certificate_expiry_timestamp_seconds";
const snapshot = "quartermaster_search_snapshot_last_success_timestamp_seconds";

const cases: readonly AlertCase[] = [
  {
    alert: "ClusterRed",
    fires: cluster(status, steady(2)),
    silent: cluster(status, steady(1)),
    labels: clusterLabels,
  },
  {
    alert: "ClusterYellowLong",
    fires: cluster(status, steady(1)),
    // Green again every 20 minutes.
    silent: cluster(status, "1x18 0 ".repeat(10).trim()),
    labels: clusterLabels,
  },
  {
    alert: "NodeMissing",
    fires: {
      ...cluster("quartermaster_search_expected_nodes", steady(3)),
      ...cluster("opensearch_cluster_nodes_number", steady(2)),
    },
    silent: {
      ...cluster("quartermaster_search_expected_nodes", steady(3)),
      ...cluster("opensearch_cluster_nodes_number", steady(3)),
    },
    labels: clusterLabels,
  },
  { alert: "QuorumAtRisk", fires: voters(3, 2), silent: voters(1, 1), labels: clusterLabels },
  {
    alert: "UnassignedShards",
    fires: cluster("opensearch_cluster_shards_number", steady(1), ',type="unassigned"'),
    silent: cluster("opensearch_cluster_shards_number", steady(0), ',type="unassigned"'),
    labels: clusterLabels,
  },
  {
    alert: "RelocationStuck",
    fires: relocating(steady(2)),
    silent: relocating("200-1x200"),
    labels: clusterLabels,
    at: "2h",
  },
  { alert: "DiskLow", fires: disk(10), silent: disk(20), labels: nodeLabels },
  { alert: "DiskFloodStage", fires: disk(4), silent: disk(10), labels: nodeLabels },
  {
    alert: "HeapHigh",
    fires: node("opensearch_jvm_mem_heap_used_percent", steady(90)),
    silent: node("opensearch_jvm_mem_heap_used_percent", steady(80)),
    labels: nodeLabels,
  },
  {
    alert: "GcOverhead",
    fires: node("opensearch_jvm_gc_collection_time_seconds", "0+12x200", ',gc="old"'),
    silent: node("opensearch_jvm_gc_collection_time_seconds", "0+3x200", ',gc="old"'),
    labels: nodeLabels,
  },
  {
    alert: "CpuHigh",
    fires: node("opensearch_process_cpu_percent", steady(95)),
    silent: node("opensearch_process_cpu_percent", steady(60)),
    labels: nodeLabels,
  },
  {
    alert: "SearchRejections",
    fires: rejected("search", "0+5x200"),
    silent: rejected("write", "0+5x200"),
    labels: nodeLabels,
  },
  {
    alert: "WriteRejections",
    fires: rejected("write", "0+5x200"),
    silent: rejected("write", steady(7)),
    labels: nodeLabels,
  },
  {
    alert: "PendingTasksHigh",
    fires: cluster("opensearch_cluster_pending_tasks_number", steady(150)),
    silent: cluster("opensearch_cluster_pending_tasks_number", steady(50)),
    labels: clusterLabels,
  },
  { alert: "ShardsNearLimit", fires: shards(180, 10), silent: shards(100, 10), labels: clusterLabels },
  {
    alert: "CertificateExpiring",
    fires: cluster(certificate, steady(5 * 86_400), ',layer="http"'),
    silent: cluster(certificate, steady(30 * 86_400), ',layer="http"'),
    labels: { ...clusterLabels, layer: "http" },
    at: "2h",
  },
  {
    alert: "SnapshotTooOld",
    fires: cluster(snapshot, steady(0), ',repository="nightly"'),
    silent: cluster(snapshot, steady(200_000), ',repository="nightly"'),
    labels: { ...clusterLabels, repository: "nightly" },
    every: "1h",
    at: "72h",
  },
  {
    alert: "OperatorStalled",
    fires: { 'quartermaster_search_cluster_stalled{cluster="team/logs"}': steady(1) },
    silent: { 'quartermaster_search_cluster_stalled{cluster="team/logs"}': steady(0) },
    labels: { cluster: "team/logs" },
  },
];

const promtool = prometheusProgram("promtool");
const directory = mkdtempSync(join(tmpdir(), "alert-rules-"));
let files = 0;

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function written(content: object): string {
  files += 1;
  const path = join(directory, `${String(files)}.yaml`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

function tool(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status: code, stdout, stderr } = spawnSync(promtool ?? "promtool", [...args], { encoding: "utf8" });
  return { status: code, output: `${stdout}${stderr}` };
}

function expected({ labels, annotations }: AlertRule, of: AlertCase["labels"]): object {
  const filled = (text: string): string =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, label: string) => of[label] ?? "");
  return {
    exp_labels: { ...of, severity: labels.severity },
    exp_annotations: {
      summary: filled(annotations.summary),
      description: filled(annotations.description),
    },
  };
}

/** One case as promtool reads it. With rules of another cluster it has to stay silent, too. */
function promtoolTest(given: AlertCase, scope: AlertScope | undefined, fires: boolean): object {
  const { alert, labels, every = "1m", at = "40m" } = given;
  const rule = alertRules(scope).find((each) => each.alert === alert);
  if (rule === undefined) throw new Error(`no alert ${alert}`);
  const series = fires || scope !== undefined ? given.fires : given.silent;
  return {
    interval: every,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: fires ? [expected(rule, labels)] : [] }],
  };
}

/** The output of promtool for all cases together: starting it takes longer than running them. */
function judged(scope: AlertScope | undefined, fires: boolean): ReturnType<typeof tool> {
  const rules = written(ruleFile(scope));
  const intervals = [...new Set(cases.map(({ every = "1m" }) => every))];
  const tests = intervals.map((interval) =>
    written({
      rule_files: [rules],
      evaluation_interval: interval,
      tests: cases
        .filter(({ every = "1m" }) => every === interval)
        .map((each) => promtoolTest(each, scope, fires)),
    }),
  );
  return tool("test", "rules", ...tests);
}

test("there are 18 alerts, and each has its case", () => {
  expect(alertRules()).toHaveLength(18);
  expect(cases.map(({ alert }) => alert)).toEqual(alertRules().map(({ alert }) => alert));
});

describe.skipIf(promtool === undefined)(
  "promtool (skipped where Debian's package prometheus cannot be had)",
  () => {
    test("[search/SC-87] promtool accepts the rules, for all clusters and for one", () => {
      for (const scope of [undefined, clusterLabels])
        expect(tool("check", "rules", written(ruleFile(scope)))).toMatchObject({ status: 0 });
    });

    test.each<[string, AlertScope | undefined, boolean]>([
      ["every alert fires", undefined, true],
      ["every alert stays silent", undefined, false],
      ["rules of one cluster fire for it", clusterLabels, true],
      [
        "rules of one cluster stay silent for one of the same name elsewhere",
        { namespace: "other", cluster: "logs" },
        false,
      ],
    ])("[search/SC-87] %s", (_name, scope, fires) => {
      expect(judged(scope, fires)).toMatchObject({ status: 0 });
    });

    const queries = grafanaDashboards().flatMap(({ name, model }) =>
      (model["panels"] as readonly { title: string; targets: readonly { expr: string }[] }[]).flatMap(
        ({ title, targets }) => targets.map(({ expr }) => ({ name, title, expr })),
      ),
    );

    test("[search/SC-87] every query of the four dashboards parses", () => {
      expect(new Set(queries.map(({ name }) => name)).size).toBe(4);
      const rules = queries.map(({ expr }, at) => ({ record: `panel:${String(at)}`, expr }));
      const file = written({ groups: [{ name: "panels", rules }] });
      expect(tool("check", "rules", file)).toMatchObject({ status: 0 });
    });
  },
);

/** Series of the operator; its own tests look for them on its page. */
const ofOperator = new Set([
  "quartermaster_search_cluster_stalled",
  "quartermaster_search_operations_total",
  "quartermaster_search_engine_requests_total",
]);

test("[search/SC-87] every metric of an alert or a dashboard is one that the exporter or the operator serves", () => {
  const known = new Set([...exporterSeries.map(({ name }) => name), ...ofOperator]);
  const text = JSON.stringify([alertRules(), grafanaDashboards()]);
  const used = new Set(text.match(/(?:opensearch|quartermaster)_\w+/g));
  expect(used.size).toBeGreaterThan(30);
  expect([...used].filter((name) => !known.has(name))).toEqual([]);
});

test("dashboards of two clusters can stand side by side", () => {
  const uids = [undefined, clusterLabels, { namespace: "other", cluster: "logs" }].flatMap((scope) =>
    grafanaDashboards(scope).map(({ model }) => model["uid"]),
  );
  expect(new Set(uids).size).toBe(12);
  for (const uid of uids) expect(String(uid).length).toBeLessThanOrEqual(40);
});
