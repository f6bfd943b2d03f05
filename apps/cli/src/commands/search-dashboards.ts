import { readFile, writeFile } from "node:fs/promises";

import type { Live } from "@quartermaster/runtime";
import {
  type ClusterObject,
  dashboardPanels,
  monitoringNames,
  type Panel,
  stackPorts,
} from "@quartermaster/search/offline";

import { type Cluster, connect } from "../cluster/connect.ts";
import { getSearchCluster } from "../cluster/get-search-cluster.ts";
import type { Command } from "../command.ts";
import { dashboardPage } from "../dashboard/dashboard-page.ts";
import { readPanels } from "../dashboard/panel-data.ts";
import {
  type QueryPrometheus,
  prometheusAt,
  prometheusBehind,
  type TimeRange,
} from "../dashboard/prometheus.ts";
import { CliError, exitCode, usageError } from "../errors.ts";
import { type Invocation, onlyPositional, searchOptions } from "../input/invocation.ts";
import { print } from "../output/print.ts";

/** Draws a dashboard of a search cluster as one HTML page, from the panels that Grafana gets. */
export const searchDashboardsCommand: Command = {
  name: "search dashboards",
  summary: "draw a dashboard of a search cluster as one HTML page, from the metrics in Prometheus",
  operands: "<cluster>",
  options: {
    output: {
      type: "string",
      short: "o",
      describe:
        "a name that ends in .html: write the page there; json or yaml: the metrics (default: the page)",
    },
    prometheus: {
      type: "string",
      describe:
        "address of a Prometheus, e.g. of a port-forward (default: that of the standalone stack, through the API server)",
    },
    "prometheus-ca": { type: "string", describe: "file with the CA of that Prometheus's certificate" },
    dashboard: { type: "string", describe: `${names().join(", ")} (default: overview)` },
    since: { type: "string", describe: "how far back, e.g. 30m, 6h or 2d (default: 6h)" },
    ...searchOptions,
  },
  run: async (invocation, context) => {
    const name = onlyPositional(invocation, "cluster");
    const chosen = chosenPanels(invocation.text("dashboard") ?? "overview");
    const span = spanOf(invocation.text("since") ?? "6h");
    const output = outputOf(invocation.text("output"));
    await using cluster = await connect(invocation, context);
    const object = await getSearchCluster(cluster, name, context.signal);
    const request = (await queryAtAddress(invocation)) ?? queryOfStack(object, cluster);
    const range = rangeOf(context.system.wallMs(), span);
    const { namespace } = object.metadata;
    const scope = { namespace, cluster: name, range, signal: context.signal };
    const panels = await readPanels(chosen.panels, request, scope);
    const title = `${scope.namespace}/${name}: ${chosen.title}`;
    const page = dashboardPage({ title, range, panels });
    if (output.file === undefined) {
      const metrics = panels.map(({ panel, lines }) => ({ panel: panel.title, lines }));
      print(context.terminal, output.format, {
        data: { title, range, panels: metrics },
        text: page.trimEnd(),
      });
      return exitCode.ok;
    }
    await named(output.file, writeFile(output.file, page));
    const filled = panels.filter(({ lines }) => lines.length > 0).length;
    context.terminal.write(
      `wrote ${output.file}: ${String(filled)} of ${String(panels.length)} panels have data`,
    );
    return exitCode.ok;
  },
};

function names(): readonly string[] {
  return Object.keys(dashboardPanels);
}

function chosenPanels(name: string): { readonly title: string; readonly panels: readonly Panel[] } {
  const found = Object.entries(dashboardPanels).find(([each]) => each === name)?.[1];
  if (found === undefined) throw usageError(`--dashboard must be one of ${names().join(", ")}`);
  return found;
}

function outputOf(text: string | undefined): {
  readonly format: "text" | "json" | "yaml";
  readonly file?: string;
} {
  if (text === undefined || text === "text") return { format: "text" };
  if (text === "json" || text === "yaml") return { format: text };
  if (text.endsWith(".html")) return { format: "text", file: text };
  throw usageError("--output must be json, yaml or a file name that ends in .html");
}

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

function spanOf(text: string): number {
  const [, count = "", unit = ""] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? 0);
  if (seconds > 0 && seconds <= 366 * 86_400) return seconds;
  throw usageError("--since must be a number of minutes, hours or days, e.g. 30m, 6h or 2d");
}

/** 240 points are as many as a chart has room for. */
function rangeOf(nowMs: number, spanSeconds: number): TimeRange {
  const toSeconds = Math.floor(nowMs / 1000);
  return {
    fromSeconds: toSeconds - spanSeconds,
    toSeconds,
    stepSeconds: Math.max(5, Math.round(spanSeconds / 240)),
  };
}

/** Files are named in the message where they cannot be read or written. */
async function named<T>(file: string, doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    throw new CliError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Undefined where the user names none. */
async function queryAtAddress(invocation: Invocation): Promise<QueryPrometheus | undefined> {
  const [address, caFile] = [invocation.text("prometheus"), invocation.text("prometheus-ca")];
  if (address !== undefined)
    return prometheusAt(
      address,
      caFile === undefined ? undefined : await named(caFile, readFile(caFile, "utf8")),
    );
  if (caFile !== undefined) throw usageError("--prometheus-ca needs --prometheus");
  return undefined;
}

function queryOfStack({ metadata, status }: Live<ClusterObject>, cluster: Cluster): QueryPrometheus {
  const { name, namespace } = metadata;
  const stack = status?.monitoring?.stack ?? "not set";
  if (stack !== "Standalone")
    throw new CliError(
      `${name} has no Prometheus of its own (status.monitoring.stack is ${stack}); name yours with --prometheus`,
    );
  const service = monitoringNames({ name }).stack.prometheus;
  return prometheusBehind(cluster.transport, { namespace, service, port: stackPorts.prometheus });
}
