import { isJsonObject, type JsonObject, textOf, withoutFields } from "@quartermaster/runtime";

import type { PodSettings } from "../model/search-cluster.ts";

/** An author's settings for the pods of a pool: the cluster's, and above them the pool's. */
export function mergeSettings(cluster: PodSettings, pool: PodSettings): PodSettings {
  const command = pool.command ?? cluster.command;
  return {
    labels: { ...cluster.labels, ...pool.labels },
    annotations: { ...cluster.annotations, ...pool.annotations },
    spec: { ...cluster.spec, ...pool.spec },
    container: mergeFields(cluster.container, pool.container),
    sidecars: [...cluster.sidecars, ...pool.sidecars],
    initContainers: [...cluster.initContainers, ...pool.initContainers],
    volumes: [...cluster.volumes, ...pool.volumes],
    setsMaxMapCount: cluster.setsMaxMapCount || pool.setsMaxMapCount,
    ...(command === undefined ? {} : { command }),
  };
}

/**
 * Ours with an author's fields above them: objects field by field, lists of named items by name, everything else replaced. A probe with
 * a handler of its own replaces ours.
 */
export function mergeFields(ours: JsonObject, theirs: JsonObject): JsonObject {
  const merged = Object.entries(theirs).map(([key, value]) => [key, mergeValue(ours[key], value)] as const);
  return { ...ours, ...Object.fromEntries(merged) };
}

function mergeValue(ours: unknown, theirs: unknown): unknown {
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    const isOtherProbe = probeHandlers.some((handler) => Object.hasOwn(theirs, handler));
    return mergeFields(isOtherProbe ? withoutFields(ours, new Set(probeHandlers)) : ours, theirs);
  }
  if (isNamedList(ours) && isNamedList(theirs)) {
    const names = new Set(theirs.map((item) => textOf(item, "name")));
    return [...ours.filter((item) => !names.has(textOf(item, "name"))), ...theirs];
  }
  return theirs;
}

const probeHandlers = ["exec", "grpc", "httpGet", "tcpSocket"];

function isNamedList(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every((item: unknown) => textOf(item, "name") !== undefined);
}
