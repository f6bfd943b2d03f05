import { classify } from "../errors.ts";
import { type Occurrence, subjectOf } from "../events/event-object.ts";
import type { InformerObserver } from "../informers/informer.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { reasons } from "../reasons.ts";
import type { Log } from "../reconcile/log.ts";
import type { Telemetry } from "./telemetry.ts";

/** Makes metrics, log lines and events of what informers report. */
export function informerObserverFor({
  telemetry,
  log,
  record,
  refused,
}: {
  readonly telemetry: Telemetry;
  readonly log: Log;
  readonly record: (occurrence: Occurrence) => void;
  /** A kind may not be watched. */
  readonly refused: () => void;
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
      if (classify(error) === "forbidden") refused();
    },
    quarantined: (event) => {
      telemetry.quarantined?.(event);
      const { target, object } = event;
      const { namespace, name } = object.metadata;
      log.warn("object is left out", { kind: nameOfKind(target.kind), namespace, name });
      record(leftOut(target.kind, object));
    },
  };
}

export function leftOut(kind: Kind, object: KubeObject): Occurrence {
  return { subject: subjectOf(kind, object), ...unusable };
}

const unusable = {
  type: "Warning",
  reason: reasons.objectUnusable,
  action: "LeaveOut",
  note: "The object is nested more than 1000 levels deep and is treated as if it were not there.",
} as const;
