import { fieldOf, listOf, printable, textOf } from "@quartermaster/runtime";

import { clusterNames, poolNames } from "../model/cluster-names.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import { readSettings } from "../model/read-settings.ts";
import type { NodePool, SearchCluster, SpecIssue } from "../model/search-cluster.ts";
import { refusedJvmOptions } from "./jvm-options.ts";
import { isReserved } from "./node-settings.ts";
import { ownPaths } from "./pool-volumes.ts";

export interface WorkloadPolicy {
  /** Hosts that plugins may be downloaded from, besides the engine's own way to find official ones by name. */
  readonly pluginHosts: readonly string[];
  /** Image of the exporter for clusters that name none. */
  readonly exporterImage?: string | undefined;
}

/** Everything in the spec that cannot become pods; all of it, not the first. Paths are below `spec`. */
export function workloadIssues(
  cluster: SearchCluster,
  { pluginHosts }: WorkloadPolicy,
): readonly SpecIssue[] {
  return [
    ...settingIssues(cluster.config, "spec.general.additionalConfig"),
    ...environmentIssues(cluster.pod.container, "spec.general.env"),
    ...cluster.plugins.flatMap((plugin, index) =>
      pluginIssues(plugin, { path: `spec.general.pluginsList[${String(index)}]`, pluginHosts }),
    ),
    ...(cluster.dashboards?.plugins ?? []).flatMap((plugin, index) =>
      pluginIssues(plugin, { path: `spec.${uiField(cluster)}.pluginsList[${String(index)}]`, pluginHosts }),
    ),
    ...cluster.pools.flatMap((pool, index) => poolIssues(pool, `spec.nodePools[${String(index)}]`)),
    ...volumeIssues(cluster),
    ...nameIssues(cluster),
  ];
}

/** An empty volume at a path of ours is not needed; anything else would take the place of what the engine needs there. */
function volumeIssues(cluster: SearchCluster): readonly SpecIssue[] {
  const taken = ownPaths(cluster);
  return cluster.pod.volumes.flatMap((volume, index) => {
    const mountPath = textOf(volume, "path") ?? "";
    if (!taken.has(mountPath) || fieldOf(volume, "emptyDir") !== undefined) return [];
    const message = `The operator mounts a volume at ${printable(mountPath)}. Choose a directory or file below it.`;
    const path = `spec.general.additionalVolumes[${String(index)}].path`;
    return [{ path, reason: "InvalidSpec" as const, message }];
  });
}

/** The field of Dashboards or Kibana. */
function uiField({ distribution }: SearchCluster): string {
  return distributionFacts[distribution].dashboardsField;
}

/** The Service of a pool must not be the one for clients, for discovery or for the dashboards. */
function nameIssues(cluster: SearchCluster): readonly SpecIssue[] {
  const { discoveryService, clientService } = clusterNames(cluster);
  const taken = new Set([discoveryService, clientService, `${clientService}-dashboards`]);
  return cluster.pools.flatMap((pool, index) => {
    const { service } = poolNames(cluster, pool);
    if (!taken.has(service)) return [];
    const message = `The pool's Service would be ${printable(service)}, which is another Service of the cluster. Choose another name.`;
    return [{ path: `spec.nodePools[${String(index)}].component`, reason: "InvalidSpec" as const, message }];
  });
}

function poolIssues({ config, pod, jvm }: NodePool, path: string): readonly SpecIssue[] {
  return [
    ...settingIssues(config, `${path}.additionalConfig`),
    ...environmentIssues(pod.container, `${path}.env`),
    ...probeIssues(pod.container["probes"], `${path}.probes`),
    ...refusedJvmOptions(jvm ?? "").map((option) => ({
      path: `${path}.jvm`,
      reason: "InvalidSpec" as const,
      message: `The JVM option ${printable(option)} can run commands, load code or read options from elsewhere. Remove it.`,
    })),
  ];
}

/** What Kubernetes demands: said here, where the path is the author's. */
function probeIssues(probes: unknown, path: string): readonly SpecIssue[] {
  return (["liveness", "startup"] as const).flatMap((name) => {
    const threshold = fieldOf(fieldOf(probes, name), "successThreshold");
    if (typeof threshold !== "number" || threshold <= 1) return [];
    const message = "Kubernetes takes no other value than 1 here. Remove it.";
    return [{ path: `${path}.${name}.successThreshold`, reason: "InvalidSpec" as const, message }];
  });
}

function settingIssues(config: Readonly<Record<string, string>>, path: string): readonly SpecIssue[] {
  const { settings, unreadable } = readSettings(config);
  const malformed = Object.keys(settings).filter((key) => !isSettingName(key));
  return [
    ...unreadable.map((key) => ({
      path: `${path}.${printable(key)}`,
      reason: "InvalidSpec" as const,
      message: "The value is not YAML of a scalar, a list or a mapping. Quote it if it is meant as text.",
    })),
    ...malformed.map((key) => ({
      path: `${path}.${printable(key)}`,
      reason: "InvalidSpec" as const,
      message: "Names of settings consist of letters, digits, dots, dashes and underscores.",
    })),
    ...Object.keys(settings)
      .filter(isReserved)
      .map((key) => reserved(`${path}.${printable(key)}`, key)),
  ];
}

/** The images' entry points turn variables such as `cluster.name` into settings. */
function environmentIssues(container: SearchCluster["pod"]["container"], path: string): readonly SpecIssue[] {
  return listOf(container, "env").flatMap((each, index) => {
    const name = textOf(each, "name") ?? "";
    return isReserved(name) ? [reserved(`${path}[${String(index)}]`, name)] : [];
  });
}

function reserved(path: string, key: string): SpecIssue {
  return {
    path,
    reason: "ReservedSetting",
    message: `${printable(key)} decides who a node is or whom it trusts, and is set by the operator. Remove it.`,
  };
}

function isSettingName(key: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_.-]*$/.test(key);
}

interface PluginLocation {
  readonly path: string;
  readonly pluginHosts: readonly string[];
}

/** Plugins are code in the pods. By its name, the engine's tool takes one from its makers and checks the signature. */
function pluginIssues(plugin: string, { path, pluginHosts }: PluginLocation): readonly SpecIssue[] {
  if (/^[a-z][a-z0-9-]*$/.test(plugin)) return [];
  const url = URL.canParse(plugin) ? new URL(plugin) : undefined;
  const isAllowed = url?.protocol === "https:" && url.username === "" && pluginHosts.includes(url.host);
  if (isAllowed) return [];
  const hosts =
    pluginHosts.length === 0 ? "no host is allowed here" : `allowed are ${pluginHosts.join(", ")}`;
  return [
    {
      path,
      reason: "PluginSourceNotAllowed",
      message: `${printable(plugin)} is neither the name of an official plugin nor an https URL of an allowed host (${hosts}).`,
    },
  ];
}

/** Where the makers of the engines publish plugins: what operators allow by default. */
export const officialHosts: readonly string[] = [
  "artifacts.opensearch.org",
  "artifacts.elastic.co",
  "github.com",
  "repo1.maven.org",
];
