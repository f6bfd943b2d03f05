import type { Client } from "../client/client.ts";
import type { ErrorClass } from "../errors.ts";
import type { InformerPool } from "../informers/informer-pool.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { Priority } from "../queue/key-queue.ts";
import type { QueueObserver } from "../queue/work-queue.ts";
import type { Log } from "../reconcile/log.ts";
import type { ReconcileEvent } from "../reconcile/recipe.ts";
import type { System } from "../system/system.ts";

/** Dependencies of a controller; the manager provides them. */
export interface ControllerHost {
  readonly pool: InformerPool;
  readonly client: Client;
  readonly system: System;
  readonly log: Log;
  readonly observer: ControllerObserver;
  /** Takes an event for an object; never fails, never waits. */
  readonly recordEvent: (kind: Kind, object: KubeObject, event: ReconcileEvent) => void;
}

/** How a reconcile ended, in the words of controller-runtime's metrics. */
export interface ReconcileRecord {
  readonly controller: string;
  readonly result: "success" | "error" | "requeue" | "requeue_after";
  readonly durationMs: number;
  /** Of a failed reconcile. `timeout` with `isDeadline` means that the reconcile itself was too slow. */
  readonly errorClass?: ErrorClass | undefined;
  readonly isDeadline?: boolean | undefined;
  /** It is not retried: only a change of the spec can help. */
  readonly isTerminal?: boolean | undefined;
}

/** Hooks for metrics. */
export interface ControllerObserver {
  reconcileFinished?(record: ReconcileRecord): void;
  activeWorkers?(event: { readonly controller: string; readonly count: number }): void;
  queueAdded?(event: { readonly controller: string }): void;
  queueDepth?(event: {
    readonly controller: string;
    readonly depths: Readonly<Record<Priority, number>>;
  }): void;
  queueLatency?(event: { readonly controller: string; readonly durationMs: number }): void;
  workDuration?(event: { readonly controller: string; readonly durationMs: number }): void;
  queueRetried?(event: { readonly controller: string }): void;
}

/** The queue's counts under the name of its controller. */
export function queueObserverFor(controller: string, observer: ControllerObserver): QueueObserver {
  return {
    queueAdded: () => observer.queueAdded?.({ controller }),
    queueDepth: (depths) => observer.queueDepth?.({ controller, depths }),
    queueLatency: (durationMs) => observer.queueLatency?.({ controller, durationMs }),
    workDuration: (durationMs) => observer.workDuration?.({ controller, durationMs }),
    queueRetried: () => observer.queueRetried?.({ controller }),
  };
}
