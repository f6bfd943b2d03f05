import { fieldOf, isJsonObject, type JsonObject } from "@quartermaster/runtime";

import { podDialect } from "../distributions/distributions.ts";
import type { SearchCluster } from "../model/search-cluster.ts";

/**
 * Probes of the engine. None of ours needs a login or a quorum: a probe that does turns a lost quorum into restarts, and a lost password
 * into an outage. The author's timings are laid over them, and a command takes the place of what is tried.
 */
export function poolProbes(cluster: SearchCluster, settings: unknown): JsonObject {
  const tcp = { tcpSocket: { port: cluster.httpPort } };
  // Ten minutes for the first start: shards are opened before the port is.
  const startup = { periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 120 };
  const liveness = { periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 10 };
  const readiness = { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 };
  return {
    startupProbe: probe(tcp, startup, fieldOf(settings, "startup")),
    livenessProbe: probe(tcp, liveness, fieldOf(settings, "liveness")),
    readinessProbe: probe(podDialect(cluster).readiness(cluster), readiness, fieldOf(settings, "readiness")),
  };
}

const timings = [
  "failureThreshold",
  "initialDelaySeconds",
  "periodSeconds",
  "successThreshold",
  "timeoutSeconds",
] as const;

/** A number that is not positive is none, as upstream has it. */
function probe(handler: JsonObject, ours: JsonObject, theirs: unknown): JsonObject {
  if (!isJsonObject(theirs)) return { ...handler, ...ours };
  const given = timings.flatMap((name) => {
    const value = theirs[name];
    return typeof value === "number" && value > 0 ? [[name, value] as const] : [];
  });
  const command = theirs["command"];
  const hasCommand = Array.isArray(command) && command.length > 0;
  return { ...(hasCommand ? { exec: { command } } : handler), ...ours, ...Object.fromEntries(given) };
}
