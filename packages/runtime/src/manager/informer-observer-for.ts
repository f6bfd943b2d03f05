import { classify } from "../errors.ts";
import { subjectOf } from "../events/event-object.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { InformerObserver } from "../informers/informer.ts";
import { nameOfKind } from "../object/kind.ts";
import type { Log } from "../reconcile/log.ts";
import { reasons } from "../reconcile/reasons.ts";
import type { Telemetry } from "./telemetry-hooks.ts";

/** Makes metrics, log lines and events of what informers report. */
export function informerObserverFor({
  telemetry,
  log,
  events,
}: {
  readonly telemetry: Telemetry;
  readonly log: Log;
  readonly events: EventRecorder;
}): InformerObserver {
  return {
    ...telemetry,
    handlerFailed: (event) => {
      telemetry.handlerFailed?.(event);
      log.error("a handler failed", { kind: event.kind, err: event.error });
    },
    stateChanged: (event) => {
      telemetry.stateChanged?.(event);
      const { kind, state, error } = event;
      if (error === undefined) log.debug("watch changed", { kind, state });
      else log.warn("watch has trouble", { kind, state, code: classify(error), err: error });
    },
    quarantined: (event) => {
      telemetry.quarantined?.(event);
      const { target, object } = event;
      const { namespace, name } = object.metadata;
      log.warn("object is left out", { kind: nameOfKind(target.kind), namespace, name });
      events.record({ subject: subjectOf(target.kind, object), ...unusable });
    },
  };
}

const unusable = {
  type: "Warning",
  reason: reasons.objectUnusable,
  action: "LeaveOut",
  note: "The object is nested more than 1000 levels deep and is treated as if it were not there.",
} as const;
