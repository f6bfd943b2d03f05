import { apiVersionOf, settled } from "@quartermaster/runtime";
import { configMaps, deployments, networkPolicies, services } from "@quartermaster/runtime/kinds";

import { awaits, type LaneVerdict, type LaneRule, nothingToDo, refuses, type SearchLane } from "../lane.ts";
import type { MonitoringSettings } from "../model/read-monitoring.ts";
import { pruneActions } from "../present-object.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction, type SearchAction } from "../search-action.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";
import {
  exporterConfigMap,
  exporterDeployment,
  exporterNetworkPolicy,
  exporterService,
} from "./exporter-deployment.ts";
import { monitoringKindNames, monitoringKinds } from "./monitoring-kinds.ts";
import { operatorStack } from "./operator-stack.ts";
import { ruleObjects, type WantedObject } from "./rule-objects.ts";
import { stackParts, standaloneStack } from "./standalone-stack.ts";

/** Objects no longer needed: switched off, another stack, or a kind that replaced a file. */
const prune: LaneRule = {
  name: "prune",
  decide: (seen) => {
    const wanted = new Set(wantedKeys(seen));
    const left = seen.monitoring.present.filter(({ kind, name }) => !wanted.has(`${kind.kind} ${name}`));
    if (left.length === 0) return undefined;
    const isExporterLeft = left.some(({ kind, isTerminating }) => kind === deployments && !isTerminating);
    const actions: readonly SearchAction[] = [
      ...pruneActions(left, seen.object),
      ...(isExporterLeft ? [removed(left.map(({ name }) => name))] : []),
    ];
    return awaits(
      searchReasons.monitoringPending,
      `No longer wanted, and deleted: ${left.map(({ kind, name }) => `${kind.kind} ${name}`).join(", ")}.`,
      { actor: "operator", actions, retryAfterMs: 5_000 },
    );
  },
};

function removed(names: readonly string[]): SearchAction {
  return {
    kind: "record",
    event: {
      type: "Normal",
      reason: "MonitoringRemoved",
      action: "RemoveMonitoring",
      note: `No longer wanted, and deleted: ${[...new Set(names)].join(", ")}.`,
    },
  };
}

/** Everything that the spec and the API server request; without passwords, which the lane of certificates makes. */
function wantedObjects(seen: Pick<Seen, "cluster" | "monitoring" | "material">): readonly WantedObject[] {
  const { cluster } = seen;
  const settings = cluster.monitoring;
  if (settings === undefined) return [];
  const { served, followed } = seen.monitoring;
  const { material } = seen;
  const readAtStart = {
    certificate: material.certificates.get("monitoring")?.pair?.certificatePem,
    trust: [material.ca.pair?.certificatePem, ...material.foreignTrust],
  };
  return [
    { kind: configMaps, object: exporterConfigMap(cluster) },
    { kind: services, object: exporterService(cluster) },
    { kind: deployments, object: exporterDeployment(cluster, settings) },
    ...(cluster.networkPolicy.isEnabled
      ? [{ kind: networkPolicies, object: exporterNetworkPolicy(cluster) }]
      : []),
    ...ruleObjects(cluster, settings, served),
    ...(settings.stack.mode === "Standalone"
      ? standaloneStack(cluster, settings, { followed, readAtStart })
      : []),
    ...(settings.stack.mode === "Operator" ? operatorStack(cluster, settings, served) : []),
  ];
}

function wantedKeys(seen: Seen): readonly string[] {
  const { material, cluster } = seen;
  const { password, grafanaPassword, certificate } = monitoringNames(cluster);
  return [
    ...wantedObjects(seen).map(({ kind, object }) => `${kind.kind} ${object.metadata.name}`),
    ...(material.monitoring === undefined ? [] : [`Secret ${password}`]),
    ...(material.grafana === undefined ? [] : [`Secret ${grafanaPassword}`]),
    ...(material.certificates.has("monitoring") ? [`Secret ${certificate}`] : []),
  ];
}

/** Without an engine there is nothing to see. */
const notYet: LaneRule = {
  name: "notYet",
  decide: ({ cluster, status }) =>
    cluster.monitoring === undefined || status.clusterUuid === undefined ? nothingToDo : undefined,
};

/** Never used, never overwritten: its maker may know the password or the key. */
const foreignSecret: LaneRule = {
  name: "foreignSecret",
  decide: ({ material }) => {
    const own = [material.monitoring, material.grafana, material.certificates.get("monitoring")];
    const foreign = own.filter((each) => each?.state === "foreign");
    if (foreign.length === 0) return undefined;
    const names = foreign.map((each) => each?.name ?? "").join(", ");
    return refuses(
      searchReasons.secretConflict,
      `Secret ${names} was not made by the operator and is not used. Remove it, or name an account of your own in spec.general.monitoring.monitoringUserSecret.`,
    );
  },
};

const awaitMaterial: LaneRule = {
  name: "awaitMaterial",
  decide: ({ monitoring: { missing }, material }) => {
    if (missing.length > 0)
      return awaits(
        searchReasons.awaitingMaterial,
        `Monitoring needs ${missing.join(" and ")}: create it, or take its name out of spec.general.monitoring.`,
        { actor: "user" },
      );
    const accounts = [material.monitoring, material.grafana].filter((each) => each !== undefined);
    const cert = material.certificates.get("monitoring");
    if (accounts.every(({ login }) => login !== undefined) && (cert === undefined || cert.pair !== undefined))
      return undefined;
    return awaits(
      searchReasons.awaitingMaterial,
      "A login of the exporter or of Grafana, or the certificate of the stack, is not there yet.",
      { actor: "operator" },
    );
  },
};

const keepObjects: LaneRule = {
  name: "keepObjects",
  decide: (seen) => {
    const { cluster } = seen;
    const settings = cluster.monitoring;
    if (settings === undefined) return undefined;
    const actions = wantedObjects(seen).map(({ kind, object }) => applyAction(kind, object, cluster));
    return progress(seen, settings, actions);
  },
};

function progress(seen: Seen, settings: MonitoringSettings, actions: readonly SearchAction[]): LaneVerdict {
  const pending = pendingDeployments(seen, settings);
  if (pending.length > 0)
    return awaits(searchReasons.monitoringPending, `Pods are not ready: ${pending.join(", ")}.`, {
      actor: "kubelet",
      actions,
    });
  const isNews = seen.status.monitoring?.exporter !== "Ready";
  return { actions: isNews ? [...actions, started(settings)] : actions, outcome: settled() };
}

function started({ stack }: MonitoringSettings): SearchAction {
  return {
    kind: "record",
    event: {
      type: "Normal",
      reason: "MonitoringReady",
      action: "MonitorCluster",
      note: `The exporter reads the engine. Stack: ${stack.mode ?? "None"}.`,
    },
  };
}

/** Deployments of ours whose pod is not there yet. Objects of other operators are theirs to manage. */
function pendingDeployments(
  { cluster, monitoring }: Pick<Seen, "cluster" | "monitoring">,
  { stack }: MonitoringSettings,
): readonly string[] {
  const names = monitoringNames(cluster);
  const wanted = [
    names.exporter,
    ...(stack.mode === "Standalone" ? stackParts(stack).map((part) => names.stack[part]) : []),
  ];
  return wanted.filter((name) => {
    const live = monitoring.deployments.get(name);
    const { observedGeneration, updatedReplicas = 0, availableReplicas = 0 } = live?.status ?? {};
    const isSeen = live !== undefined && observedGeneration === live.metadata.generation;
    return !isSeen || updatedReplicas < 1 || availableReplicas < 1;
  });
}

/** Exporter, alert rules, dashboards and, where requested, who reads them. Restarts no node, and no kind that is absent stops it. */
export const monitoringLane: SearchLane = {
  name: "monitoring",
  rules: [prune, notYet, foreignSecret, awaitMaterial, keepObjects],
};

/** Status of monitoring; undefined where it is off. */
export function monitoringReport(seen: Seen): ClusterStatus["monitoring"] {
  const { cluster, monitoring, status } = seen;
  const settings = cluster.monitoring;
  if (settings === undefined || status.clusterUuid === undefined) return undefined;
  const pending = new Set(pendingDeployments(seen, settings));
  const made = monitoring.present.map(({ kind, name }) => `${kind.kind} ${name}`);
  return {
    exporter: pending.has(monitoringNames(cluster).exporter) ? "Pending" : "Ready",
    stack: settings.stack.mode ?? "None",
    objects: made.toSorted(),
    absentApis: monitoringKindNames
      .filter((kind) => !monitoring.served.has(kind))
      .map((kind) => `${apiVersionOf(monitoringKinds[kind])} ${kind}`),
  };
}
