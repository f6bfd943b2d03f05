import type { Live } from "@quartermaster/runtime";
import { type ClusterObject, limitsText } from "@quartermaster/search/offline";

import type { Paint, Tone } from "./paint.ts";
import { tableLines } from "./table.ts";

type Status = NonNullable<ClusterObject["status"]>;

/** Whether the operator says of this very declaration that the cluster is as declared. */
export function isSearchReady({ status, metadata }: Live<ClusterObject>): boolean {
  const isCurrent = status?.observedGeneration === metadata.generation;
  return isCurrent && readyOf(status)?.status === "True";
}

/** `Kind namespace/name`. */
export function searchTitle({ kind, metadata }: Live<ClusterObject>): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}

/** What the operator says of fields without effect. */
function ignoredOf(status: ClusterObject["status"]): string | undefined {
  const ignored = status?.conditions?.find(({ type }) => type === "FieldsIgnored");
  return ignored?.status === "True" ? ignored.message : undefined;
}

function readyOf(status: ClusterObject["status"]): NonNullable<Status["conditions"]>[number] | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

/** One line: what a user asks first. */
export function searchLine(object: Live<ClusterObject>, paint: Paint): string {
  const { health = "unknown", version } = object.status ?? {};
  return [
    paint("strong", searchTitle(object)),
    isSearchReady(object) ? paint("good", "Ready") : paint("busy", notReadyText(object)),
    paint(tones[health] ?? "faint", `health ${health}`),
    nodeCount(object.status),
    ...(version === undefined ? [] : [version]),
    ...(ignoredOf(object.status) === undefined ? [] : [paint("busy", "fields ignored")]),
  ].join("  ");
}

function nodeCount(status: ClusterObject["status"]): string {
  const present = String(status?.availableNodes ?? 0);
  const desired = status?.capacity?.desiredNodes;
  return desired === undefined ? `${present} nodes` : `${present} of ${String(desired)} nodes`;
}

const tones: Readonly<Record<string, Tone>> = { green: "good", yellow: "busy", red: "bad" };

function notReadyText({ status, metadata }: Live<ClusterObject>): string {
  if (status?.observedGeneration === undefined) return "not looked at yet";
  if (status.observedGeneration !== metadata.generation) return "edit not looked at yet";
  return `not ready: ${readyOf(status)?.reason ?? "unknown"}`;
}

/** Everything that the status says, for people. */
export function searchStatusText(object: Live<ClusterObject>, paint: Paint): string {
  const { status } = object;
  if (status === undefined) return searchLine(object, paint);
  return [
    searchLine(object, paint),
    ...factsOf(status).map((line) => `  ${line}`),
    ...section("pools", poolRows(status), paint),
    ...section("auto-scaling", scalingRows(status), paint),
    ...section("nodes", nodeRows(status), paint),
    ...section("not as declared", blockerLines(status), paint),
    ...section("fields without effect", ignoredLines(status), paint),
  ].join("\n");
}

function section(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : ["", paint("strong", title), ...lines.map((line) => `  ${line}`)];
}

function factsOf({
  clusterUuid,
  access,
  certificates = {},
  operation,
  monitoring,
}: Status): readonly string[] {
  return [
    clusterUuid === undefined ? "has not formed yet" : `uuid ${clusterUuid}`,
    ...operationLines(operation),
    ...accessLines(access),
    ...certificateLines(certificates),
    ...monitoringLines(monitoring),
  ];
}

function operationLines(operation: Status["operation"]): readonly string[] {
  if (operation === undefined) return [];
  const { type, node, step, cause, shardsLeft } = operation;
  const left = shardsLeft === undefined ? "" : `, ${String(shardsLeft)} shards left`;
  return [`${type === "Restart" ? "restarts" : "removes"} ${node} (${step}${left}): ${cause}`];
}

function accessLines(access: Status["access"]): readonly string[] {
  if (access?.service === undefined) return [];
  const trust = access.caSecret === undefined ? "" : `, trusted by ca.crt of Secret ${access.caSecret}`;
  return [`reached at ${access.service}:${String(access.port ?? "")}${trust}`];
}

function certificateLines({
  httpNotAfter,
  transportNotAfter,
}: NonNullable<Status["certificates"]>): readonly string[] {
  const ends = [
    ...(httpNotAfter === undefined ? [] : [`for clients until ${httpNotAfter}`]),
    ...(transportNotAfter === undefined ? [] : [`between nodes until ${transportNotAfter}`]),
  ];
  return ends.length === 0 ? [] : [`certificates ${ends.join(", ")}`];
}

function monitoringLines(monitoring: Status["monitoring"]): readonly string[] {
  if (monitoring === undefined) return [];
  const { exporter = "Pending", stack = "None", objects = [], absentApis = [] } = monitoring;
  const made = `${String(objects.length)} objects`;
  const absent = absentApis.length === 0 ? "" : `, not served: ${absentApis.join(", ")}`;
  return [`monitored: exporter ${exporter.toLowerCase()}, stack ${stack}, ${made}${absent}`];
}

function poolRows({ nodePools = [] }: Status): readonly string[] {
  if (nodePools.length === 0) return [];
  const rows = nodePools.map(({ component, desired, target, ready, current, outdated }) => [
    component,
    ...[desired, target, ready, current, outdated].map((count) => String(count ?? "")),
  ]);
  return tableLines([["NAME", "DESIRED", "TARGET", "READY", "CURRENT", "OUTDATED"], ...rows]);
}

function scalingRows({ autoscaling }: Status): readonly string[] {
  const pools = autoscaling?.pools ?? [];
  if (pools.length === 0) return [];
  const rows = pools.map(({ pool, mode, current, target, recommendation, limitedBy = [] }) => [
    pool,
    mode,
    ...[current, target, recommendation].map((count) => String(count ?? "-")),
    limitedBy.join(",") || "-",
  ]);
  const args = pools.flatMap(({ pool, limitedBy, message }) => [
    ...(limitedBy === undefined ? [] : [`${pool}: ${limitsText(limitedBy)}`]),
    ...(message === undefined ? [] : [`${pool}: ${message}`]),
  ]);
  return [
    ...tableLines([["NAME", "MODE", "CURRENT", "TARGET", "RECOMMENDED", "LIMITED BY"], ...rows]),
    ...args,
  ];
}

function nodeRows({ nodes = [] }: Status): readonly string[] {
  if (nodes.length === 0) return [];
  const rows = nodes.map(({ name, version, member, voter, elected, roles = [], outdatedBecause = [] }) => [
    name,
    version ?? "-",
    yesOrNo(member),
    elected === true ? "elected" : yesOrNo(voter),
    outdatedBecause.length > 0 ? "outdated" : "current",
    roles.join(","),
  ]);
  return tableLines([["NAME", "VERSION", "MEMBER", "VOTER", "CONFIGURATION", "ROLES"], ...rows]);
}

function yesOrNo(value: boolean | undefined): string {
  if (value === undefined) return "unknown";
  return value ? "yes" : "no";
}

function ignoredLines(status: Status): readonly string[] {
  const message = ignoredOf(status);
  return message === undefined ? [] : [message];
}

function blockerLines({ blockers = [] }: Status): readonly string[] {
  return blockers.map(
    ({ lane, reason, message, actor }) =>
      `${lane}: ${reason}: ${message}${actor === undefined ? "" : ` Acts next: ${actor}.`}`,
  );
}
