import { Counter, type Registry } from "prom-client";

import type { Telemetry } from "../manager/telemetry.ts";
import { nameOfKind } from "../object/kind.ts";

type WatchHooks = Pick<
  Telemetry,
  "watchRestarted" | "relisted" | "decodeFailed" | "handlerFailed" | "quarantined" | "eventDropped"
>;

/** Series of our own: what controller-runtime has no name for. Label values are kinds and fixed words, never names of objects. */
export function watchMetrics(registry: Registry): WatchHooks {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name: `quartermaster_${name}`, help, labelNames, registers: [registry] });
  const restarts = counter("watch_restarts_total", "Watches that had to be opened again", ["kind", "why"]);
  const relists = counter("watch_relists_total", "Times that all objects were listed again", ["kind"]);
  const undecodable = counter("watch_decode_errors_total", "Watch events that were not understood", ["kind"]);
  const handlers = counter("informer_handler_errors_total", "Handlers of events that threw", ["kind"]);
  const quarantined = counter("quarantined_objects_total", "Objects that cannot be worked with", ["kind"]);
  const dropped = counter("events_dropped_total", "Kubernetes events that were not written", ["why"]);
  for (const why of ["full", "refused"]) dropped.inc({ why }, 0);
  return {
    watchRestarted: ({ kind, why }) => {
      restarts.inc({ kind, why });
    },
    relisted: ({ kind }) => {
      relists.inc({ kind });
    },
    decodeFailed: ({ kind }) => {
      undecodable.inc({ kind });
    },
    handlerFailed: ({ kind }) => {
      handlers.inc({ kind });
    },
    quarantined: ({ target }) => {
      quarantined.inc({ kind: nameOfKind(target.kind) });
    },
    eventDropped: ({ why }) => {
      dropped.inc({ why });
    },
  };
}
